// By what the list is narrowed; all of it lives in the address.
import { SearchOutlined } from "@ant-design/icons";
import { Button, Select } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { useFilters } from "../../state/url";
import { Field } from "./Field";
import { isEverything, NAMES, queryOf, TYPES } from "./filters";

export function FilterBar() {
  const { t } = useTranslation("tasks");
  const [filters, change] = useFilters();
  const groups = useGet("/api/v1/groups", {}, { every: false });
  const text = (name: (typeof NAMES)[number]) => ({
    value: filters[name] ?? "",
    label: t(`filter.${name}`),
    onChange: (value: string) => change({ [name]: value }),
  });
  const choice = (name: (typeof NAMES)[number]) => ({
    allowClear: true,
    value: filters[name],
    placeholder: t(`filter.${name}`),
    "aria-label": t(`filter.${name}`),
    onChange: (value: string | undefined) => change({ [name]: value }),
  });
  return (
    <div className="tasks-filters" role="search" aria-label={t("filter.label")}>
      <Field {...text("q")} prefix={<SearchOutlined />} className="tasks-filter-wide" />
      <Field {...text("exclude")} />
      <Select
        {...choice("group")}
        showSearch
        options={(groups.data?.items ?? []).map(({ name }) => ({ value: name, label: name }))}
      />
      <Select {...choice("type")} options={TYPES.map((type) => ({ value: type, label: t(`type.${type}`) }))} />
      <Select
        {...choice("enabled")}
        options={[
          { value: "true", label: t("enabled") },
          { value: "false", label: t("disabled") },
        ]}
      />
      <Field {...text("owner")} />
      <Field {...text("tag")} />
      {!isEverything(queryOf(filters)) && (
        <Button type="text" onClick={() => change(Object.fromEntries(NAMES.map((name) => [name, null])))}>
          {t("filter.clear")}
        </Button>
      )}
    </div>
  );
}
