// The filters of a list: a search, what is filtered by as chips that can be opened or removed, and a menu of the rest.
import { CloseOutlined, FilterOutlined, SearchOutlined } from "@ant-design/icons";
import { Button, Dropdown, Input, Space } from "antd";
import { useEffect, useEffectEvent, useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { Filters } from "../state/url";
import { FilterEditor } from "./FilterEditor";
import { begun, gave, told, wantedOf } from "./typing";
import "./filterbar.css";

export type FilterField = {
  /** Of the parameter in the address; a period has "to" as well. */
  name: string;
  label: string;
  kind: "text" | "choice" | "period";
  /** What can be chosen; for a text, what is suggested. */
  options?: readonly { value: string; label: string }[];
  hint?: string;
  /** How a value is told on its chip; the label of its option, or as it is, unless given. */
  told?: (value: string) => string;
  /** Shown when the address has it, but not offered. */
  unoffered?: boolean;
};

type Props = {
  search: { name: string; label: string };
  fields: readonly FilterField[];
  values: Filters;
  onChange: (change: Record<string, string | null>) => void;
  /** At the end of the row. */
  extra?: ReactNode;
};

export function FilterBar({ search, fields, values, onChange, extra }: Props) {
  const { t } = useTranslation("filters");
  const [adding, setAdding] = useState<string | null>(null);
  const isSet = (field: FilterField) => Boolean(values[field.name] ?? (field.kind === "period" && values.to));
  const shown = fields.filter((field) => isSet(field) || field.name === adding);
  const rest = fields.filter((field) => !isSet(field) && !field.unoffered);
  const without = (field: FilterField) => ({
    [field.name]: null,
    ...(field.kind === "period" ? { to: null } : {}),
  });
  const clear = () =>
    onChange(Object.assign({ [search.name]: null }, ...fields.map(without)) as Record<string, string | null>);

  return (
    <div className="filterbar" role="search" aria-label={t("label")}>
      <SearchText
        label={search.label}
        value={values[search.name] ?? ""}
        onChange={(text) => onChange({ [search.name]: text })}
      />
      {shown.map((field) => (
        <FilterEditor
          key={field.name}
          field={field}
          values={values}
          open={field.name === adding}
          onOpen={(open) => setAdding(open ? field.name : null)}
          onChange={onChange}
          remove={
            isSet(field) && (
              <Button
                icon={<CloseOutlined aria-hidden />}
                aria-label={t("remove", { label: field.label })}
                onClick={() => onChange(without(field))}
              />
            )
          }
        />
      ))}
      <Space size={4}>
        {rest.length > 0 && (
          <Dropdown
            trigger={["click"]}
            menu={{
              items: rest.map((field) => ({ key: field.name, label: field.label })),
              onClick: ({ key }) => setAdding(key),
            }}
          >
            <Button icon={<FilterOutlined aria-hidden />}>{t("add")}</Button>
          </Dropdown>
        )}
        {(fields.some(isSet) || values[search.name]) && (
          <Button type="text" onClick={clear}>
            {t("clear")}
          </Button>
        )}
      </Space>
      {extra && <span className="filterbar-extra">{extra}</span>}
    </div>
  );
}

const TYPING = 300;

/** What is typed goes into the address when typing stops; what the address says otherwise is shown. */
export function SearchText({
  label,
  value,
  onChange,
}: {
  label: string;
  value: string;
  onChange: (text: string) => void;
}) {
  const [typing, setTyping] = useState(() => begun(value));
  const [composing, setComposing] = useState(false);
  if (typing.of !== value) setTyping(told(typing, value));
  const wanted = wantedOf(typing);
  const give = useEffectEvent((text: string) => {
    setTyping(gave(typing, text));
    onChange(text);
  });
  useEffect(() => {
    // Half a word of an input method is nothing to look for.
    if (wanted === null || composing) return;
    const timer = window.setTimeout(() => give(wanted), TYPING);
    return () => window.clearTimeout(timer);
  }, [wanted, composing]);
  return (
    <Input
      className="filterbar-search"
      allowClear
      prefix={<SearchOutlined />}
      placeholder={label}
      aria-label={label}
      maxLength={200}
      value={typing.text}
      onChange={(event) => setTyping({ ...typing, text: event.target.value })}
      onCompositionStart={() => setComposing(true)}
      onCompositionEnd={() => setComposing(false)}
      onPressEnter={() => {
        if (wanted === null || composing) return;
        setTyping(gave(typing, wanted));
        onChange(wanted);
      }}
    />
  );
}
