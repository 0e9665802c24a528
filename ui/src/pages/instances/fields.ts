// What the list can be filtered by.
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { FilterField } from "../../parts/FilterBar";
import type { Filters } from "../../state/url";
import { TRIGGERS, TYPES } from "./wanted";

const SELDOM = 60_000;

export function useFields(filters: Filters): readonly FilterField[] {
  const { t } = useTranslation("instances");
  const groups = useGet("/api/v1/groups", {}, { every: SELDOM });
  const executors = useGet("/api/v1/executors", {}, { every: SELDOM });
  const taskId = Number(filters.task_id ?? 0);
  const task = useGet("/api/v1/tasks/{task_id}", { path: { task_id: taskId } }, { enabled: taskId > 0, every: false });
  const named = (names: readonly string[]) => names.map((name) => ({ value: name, label: name }));
  return [
    { name: "from", label: t("filter.period"), kind: "period" },
    { name: "group", label: t("filter.group"), kind: "choice", options: named(names(groups.data?.items)) },
    { name: "error", label: t("filter.error"), kind: "text", hint: t("filter.errorHint") },
    { name: "exclude", label: t("filter.exclude"), kind: "text", hint: t("filter.excludeHint") },
    { name: "args", label: t("filter.args"), kind: "text", hint: t("filter.argsHint") },
    { name: "owner", label: t("filter.owner"), kind: "text", hint: t("filter.ownerHint") },
    {
      name: "type",
      label: t("filter.type"),
      kind: "choice",
      options: TYPES.map((value) => ({ value, label: t(`type.${value}`) })),
    },
    {
      name: "executor_id",
      label: t("filter.executor"),
      kind: "text",
      options: named((executors.data?.items ?? []).map((one) => one.id)),
    },
    {
      name: "triggered_by",
      label: t("filter.triggered"),
      kind: "choice",
      options: TRIGGERS.map((value) => ({ value, label: t(`trigger.${value}`) })),
    },
    {
      name: "task_id",
      label: t("filter.task"),
      kind: "text",
      hint: t("filter.taskHint"),
      told: (value) => task.data?.name ?? `#${value}`,
    },
    { name: "data_source_id", label: t("filter.source"), kind: "text", told: (value) => `#${value}`, unoffered: true },
  ];
}

function names(groups: readonly { name: string }[] | undefined): string[] {
  return (groups ?? []).map((group) => group.name);
}
