// What can be done with one task, where it is listed.
import { CaretRightOutlined, EllipsisOutlined, PauseOutlined, StepForwardOutlined } from "@ant-design/icons";
import { useNavigate } from "@tanstack/react-router";
import { Button, Dropdown, Tooltip } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { isBuiltIn } from "../../parts/managed";
import type { Pause } from "../../parts/pausing";
import { useMay } from "../../state/session";
import type { Task } from "./cells";

type Props = { task: Task; pauses: readonly Pause[]; onRun: () => void; onPause: () => void };

export function RowActions({ task, pauses, onRun, onPause }: Props) {
  const { t } = useTranslation("tasks");
  const navigate = useNavigate();
  const [operates, edits] = [useMay("operator"), useMay("editor")];
  const { run: enable } = useAct(
    (enabled: boolean) =>
      answer(client.PATCH("/api/v1/tasks/{task_id}", { params: { path: { task_id: task.id } }, body: { enabled } })),
    {
      done: (changed) => t(changed.enabled ? "wasEnabled" : "wasDisabled", { name: task.name }),
      refresh: ["/api/v1/tasks"],
    },
  );
  const { run: resume } = useAct(
    (id: number) => answer(client.DELETE("/api/v1/pauses/{pause_id}", { params: { path: { pause_id: id } } })),
    { done: t("wasResumed", { name: task.name }), refresh: ["/api/v1/pauses", "/api/v1/tasks"] },
  );
  const own = pauses.find((pause) => pause.scope === "task");
  const builtIn = isBuiltIn(task);
  const resting = own ? t("resumeOne", { name: task.name }) : t("pauseOne", { name: task.name });
  return (
    <span className="tasks-actions">
      {operates && !builtIn && (
        <Tooltip title={t("run")}>
          <Button
            type="text"
            size="small"
            icon={<CaretRightOutlined />}
            aria-label={t("runOne", { name: task.name })}
            onClick={onRun}
          />
        </Tooltip>
      )}
      {operates && !builtIn && (
        <Tooltip title={own ? t("resume") : t("pause")}>
          <Button
            type="text"
            size="small"
            icon={own ? <StepForwardOutlined /> : <PauseOutlined />}
            aria-label={resting}
            onClick={() => (own ? void resume(own.id) : onPause())}
          />
        </Tooltip>
      )}
      {edits && !builtIn && (
        <Dropdown
          trigger={["click"]}
          menu={{
            items: [
              { key: "enabled", label: task.enabled ? t("disable") : t("enable") },
              { key: "edit", label: t("common:edit") },
            ],
            onClick: ({ key }) => {
              if (key === "enabled") void enable(!task.enabled);
              else void navigate({ to: "/tasks/$id/edit", params: { id: String(task.id) } });
            },
          }}
        >
          <Button type="text" size="small" icon={<EllipsisOutlined />} aria-label={t("moreOf", { name: task.name })} />
        </Dropdown>
      )}
    </span>
  );
}
