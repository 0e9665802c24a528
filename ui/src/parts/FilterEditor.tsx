// One filter: a chip that says what it is, and opens to change it.
import { AutoComplete, Button, Dropdown, Input, Popover, Space } from "antd";
import { useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { Filters } from "../state/url";
import { useZone } from "../time/zone";
import type { FilterField } from "./FilterBar";
import { PeriodEditor } from "./PeriodEditor";
import { wallOf } from "./period";

type Change = (change: Record<string, string | null>) => void;
type Props = {
  field: FilterField;
  values: Filters;
  open: boolean;
  onOpen: (open: boolean) => void;
  onChange: Change;
  remove: ReactNode;
};

export function FilterEditor({ field, values, open, onOpen, onChange, remove }: Props) {
  const told = useTold(field, values);
  const chip = (
    <Button className="filterbar-chip" aria-expanded={open}>
      <span className="dim">{field.label}</span>
      {told && <span className="filterbar-value">{told}</span>}
    </Button>
  );
  const give: Change = (change) => {
    onOpen(false);
    onChange(change);
  };
  if (field.kind === "choice") {
    return (
      <Space.Compact>
        <Dropdown
          trigger={["click"]}
          open={open}
          onOpenChange={(next) => onOpen(next)}
          autoFocus
          menu={{
            className: "filterbar-menu",
            selectable: true,
            selectedKeys: [values[field.name] ?? ""],
            items: (field.options ?? []).map(({ value, label }) => ({ key: value, label })),
            onClick: ({ key }) => give({ [field.name]: key }),
          }}
        >
          {chip}
        </Dropdown>
        {remove}
      </Space.Compact>
    );
  }
  return (
    <Space.Compact>
      <Popover
        trigger="click"
        placement="bottomLeft"
        open={open}
        onOpenChange={onOpen}
        destroyOnHidden
        content={
          field.kind === "period" ? (
            <PeriodEditor values={values} onGive={give} />
          ) : (
            <TextEditor
              field={field}
              value={values[field.name] ?? ""}
              onGive={(text) => give({ [field.name]: text })}
              onLeave={() => onOpen(false)}
            />
          )
        }
      >
        {chip}
      </Popover>
      {remove}
    </Space.Compact>
  );
}

function useTold(field: FilterField, values: Filters): string {
  const { t } = useTranslation("filters");
  const zone = useZone();
  const value = values[field.name] ?? "";
  if (field.kind === "period") {
    const { to = "" } = values;
    const at = (one: string) =>
      one.startsWith("-")
        ? t("ago", { length: one.slice(1) })
        : Number.isNaN(Date.parse(one))
          ? one
          : wallOf(one, zone).replace("T", " ");
    if (value.startsWith("-") && !to) return t("last", { length: value.slice(1) });
    if (!to) return value && t("since", { at: at(value) });
    return value ? `${at(value)} – ${at(to)}` : t("before", { at: at(to) });
  }
  if (!value) return "";
  return field.told?.(value) ?? field.options?.find((one) => one.value === value)?.label ?? value;
}

type TextProps = { field: FilterField; value: string; onGive: (text: string) => void; onLeave: () => void };

function TextEditor({ field, value, onGive, onLeave }: TextProps) {
  const { t } = useTranslation("filters");
  const [text, setText] = useState(value);
  return (
    <form
      className="filterbar-form"
      onSubmit={(event) => {
        event.preventDefault();
        onGive(text.trim());
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape") onLeave();
      }}
    >
      <AutoComplete
        className="filterbar-text"
        value={text}
        onChange={setText}
        onSelect={onGive}
        options={(field.options ?? []).filter((one) => one.value.toLowerCase().includes(text.trim().toLowerCase()))}
        getPopupContainer={(inside: HTMLElement) => inside.parentElement ?? inside}
      >
        <Input autoFocus maxLength={200} aria-label={field.label} placeholder={field.hint ?? field.label} />
      </AutoComplete>
      <Button type="primary" htmlType="submit">
        {t("apply")}
      </Button>
    </form>
  );
}
