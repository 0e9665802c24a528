// What the list can be filtered by.
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { FilterField } from "../../parts/FilterBar";
import { TYPES } from "./filters";

export function useFields(): readonly FilterField[] {
  const { t } = useTranslation("tasks");
  const groups = useGet("/api/v1/groups", {}, { every: false });
  return [
    {
      name: "group",
      label: t("filter.group"),
      kind: "choice",
      options: (groups.data?.items ?? []).map(({ name }) => ({ value: name, label: name })),
    },
    {
      name: "type",
      label: t("filter.type"),
      kind: "choice",
      options: TYPES.map((value) => ({ value, label: t(`type.${value}`) })),
    },
    {
      name: "enabled",
      label: t("filter.enabled"),
      kind: "choice",
      options: [
        { value: "true", label: t("enabled") },
        { value: "false", label: t("disabled") },
      ],
    },
    { name: "exclude", label: t("filter.exclude"), kind: "text" },
    { name: "owner", label: t("filter.owner"), kind: "text" },
    { name: "tag", label: t("filter.tag"), kind: "text" },
  ];
}
