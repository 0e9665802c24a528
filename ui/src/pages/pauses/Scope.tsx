// What a pause or a window is about.
import { Link } from "@tanstack/react-router";
import { Tag } from "antd";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";

type Props = {
  scope: components["schemas"]["PauseScope"];
  task_id: number | null;
  task_name: string | null;
  group: string | null;
};

export function Scope({ scope, task_id, task_name, group }: Props) {
  const { t } = useTranslation("pauses");
  if (scope === "all")
    return (
      <Tag color="red" variant="filled">
        {t("scope.all")}
      </Tag>
    );
  if (scope === "group")
    return (
      <>
        {t("scope.group")}{" "}
        <Link to="/executors" search={{ group: group ?? "" }}>
          {group}
        </Link>
      </>
    );
  return (
    <>
      {t("scope.task")}{" "}
      <Link to="/tasks/$id" params={{ id: String(task_id) }}>
        {task_name ?? `#${String(task_id)}`}
      </Link>
    </>
  );
}
