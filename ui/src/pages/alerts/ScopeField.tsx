// For what: everything, one group, or one task.
import { Segmented, Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { Scope } from "./conditions";

type Props = { id?: string; value?: Scope; onChange?: (value: Scope) => void };

export function ScopeField({ id, value = { of: "all", name: "" }, onChange }: Props) {
  const { t } = useTranslation("alerts");
  const [text, setText] = useState("");
  const groups = useGet("/api/v1/groups", {}, { enabled: value.of === "group", every: false });
  const tasks = useGet(
    "/api/v1/tasks",
    { query: { limit: 20, ...(text ? { q: text } : {}) } },
    { enabled: value.of === "task", every: false, keep: true },
  );
  const found = (value.of === "group" ? groups.data?.items : tasks.data?.items) ?? [];
  return (
    <div className="alerts-row" id={id}>
      <Segmented
        aria-label={t("form.scope")}
        value={value.of}
        options={(["all", "group", "task"] as const).map((of) => ({ value: of, label: t(`scopeOf.${of}`) }))}
        onChange={(of) => onChange?.({ of, name: "" })}
      />
      {value.of !== "all" && (
        <Select
          className="alerts-kind"
          aria-label={t(`scopeOf.${value.of}`)}
          showSearch={{ filterOption: value.of === "group", onSearch: setText }}
          placeholder={t("form.choose")}
          value={value.name || undefined}
          options={found.map((one) => ({ value: one.name, label: one.name }))}
          onChange={(name: string) => onChange?.({ ...value, name })}
        />
      )}
    </div>
  );
}
