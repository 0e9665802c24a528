// Which entries: by thing, by whom, by action, by result, by time; all of it in the address.
import { AutoComplete, Button, Input, Segmented, Select, Tag } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { useMay } from "../../state/session";
import { useFilters } from "../../state/url";
import { Between } from "./Between";
import { ACTIONS, THINGS } from "./things";

const NAMES = ["type", "id", "task", "who", "action", "result", "from", "to"];

export function AuditFilters({ seen }: { seen: readonly components["schemas"]["AuditLog"][] }) {
  const { t } = useTranslation("audit");
  const [filters, change] = useFilters();
  const [cleared, setCleared] = useState(0);
  const options = (known: readonly string[], chosen: string | undefined, texts: "type" | "action") =>
    [...new Set([...known, ...(chosen ? [chosen] : [])])].map((value) => ({
      value,
      label: t(`${texts}.${value}`, { defaultValue: value }),
    }));
  return (
    <div className="audit-filters" role="search" aria-label={t("filters")}>
      <Select
        allowClear
        showSearch={{ optionFilterProp: "label" }}
        placeholder={t("anyThing")}
        aria-label={t("thing")}
        value={filters.type}
        options={options(THINGS, filters.type, "type")}
        popupMatchSelectWidth={false}
        onChange={(type?: string) => change({ type, id: null })}
      />
      {filters.type && !filters.task && (
        <Number key={filters.id ?? ""} value={filters.id ?? ""} label={t("thingId")} onDone={(id) => change({ id })} />
      )}
      {filters.task && (
        <Tag className="audit-task" variant="filled" color="blue" closable onClose={() => change({ task: null })}>
          {t("ofTask", { id: filters.task })}
        </Tag>
      )}
      <Who key={filters.who ?? ""} seen={seen} />
      <Select
        allowClear
        showSearch={{ optionFilterProp: "label" }}
        placeholder={t("anyAction")}
        aria-label={t("what")}
        value={filters.action}
        options={options(ACTIONS, filters.action, "action")}
        popupMatchSelectWidth={false}
        onChange={(action?: string) => change({ action })}
      />
      <Segmented
        aria-label={t("result.label")}
        value={filters.result ?? ""}
        options={[
          { value: "", label: t("result.all") },
          { value: "done", label: t("result.done") },
          { value: "refused", label: t("result.refused") },
        ]}
        onChange={(result) => change({ result })}
      />
      <Between key={cleared} from={filters.from} to={filters.to} onChange={change} />
      {NAMES.some((name) => filters[name]) && (
        <Button
          type="link"
          onClick={() => {
            change(Object.fromEntries(NAMES.map((name) => [name, null])));
            setCleared(cleared + 1);
          }}
        >
          {t("clear")}
        </Button>
      )}
    </div>
  );
}

function Number({ value, label, onDone }: { value: string; label: string; onDone: (value: string) => void }) {
  const [text, setText] = useState(value);
  const done = () => {
    if (text.trim() !== value) onDone(text.trim());
  };
  return (
    <Input
      className="audit-id"
      value={text}
      placeholder={label}
      aria-label={label}
      onChange={(event) => setText(event.target.value)}
      onBlur={done}
      onPressEnter={done}
    />
  );
}

function Who({ seen }: { seen: readonly components["schemas"]["AuditLog"][] }) {
  const { t } = useTranslation("audit");
  const [filters, change] = useFilters();
  const [text, setText] = useState(filters.who ?? "");
  const admin = useMay("admin", { whole: true });
  const users = useGet("/api/v1/users", { query: { limit: 200 } }, { enabled: admin, every: false });
  const tokens = useGet("/api/v1/tokens", { query: { limit: 200 } }, { enabled: admin, every: false });
  const names = new Map<string, string>([
    ...(users.data?.items ?? []).map((one): [string, string] => [`user:${one.id}`, one.name]),
    ...(tokens.data?.items ?? []).map((one): [string, string] => [`token:${one.id}`, one.name]),
    ...seen.map((one): [string, string] => [one.user_id, one.user_name]),
  ]);
  const wanted = text.toLowerCase();
  const options = [...names]
    .filter(([id, name]) => `${id} ${name}`.toLowerCase().includes(wanted) || text === filters.who)
    .map(([id, name]) => ({ value: id, label: `${name} · ${id}` }));
  return (
    <AutoComplete
      allowClear
      className="audit-who"
      value={text}
      options={options}
      placeholder={t("anybody")}
      aria-label={t("who")}
      popupMatchSelectWidth={false}
      onChange={(value: string | undefined) => setText(value ?? "")}
      onSelect={(value: string | undefined) => change({ who: value })}
      onClear={() => change({ who: null })}
      // Leaving it says nothing new: whoever clicks at another filter means that one.
      onBlur={() => {
        if (text.trim() !== (filters.who ?? "")) change({ who: text.trim() });
      }}
    />
  );
}
