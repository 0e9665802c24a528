// What can be done with the task.
import { CaretRightOutlined, DownOutlined, EditOutlined, PauseOutlined, StepForwardOutlined } from "@ant-design/icons";
import { useNavigate } from "@tanstack/react-router";
import { Button, Dropdown } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { Pause } from "../../parts/pausing";
import { PauseDialog } from "../../parts/PauseDialog";
import { RunDialog } from "../../parts/RunDialog";
import { useMay } from "../../state/session";
import { managerOf, type Task } from "./about";
import { BackfillDialog } from "./BackfillDialog";
import { DeleteDialog } from "./DeleteDialog";

type Doing = "run" | "pause" | "backfill" | "delete";

export function Actions({ task, pauses }: { task: Task; pauses: readonly Pause[] }) {
  const { t } = useTranslation("task");
  const navigate = useNavigate();
  const [operates, edits] = [useMay("operator"), useMay("editor")];
  const [doing, setDoing] = useState<Doing | null>(null);
  const enable = useAct(
    (enabled: boolean) =>
      answer(client.PATCH("/api/v1/tasks/{task_id}", { params: { path: { task_id: task.id } }, body: { enabled } })),
    { done: (now) => t(now.enabled ? "wasEnabled" : "wasDisabled"), refresh: ["/api/v1/tasks"] },
  );
  const resume = useResume();
  const own = pauses.find((pause) => pause.scope === "task");
  if (managerOf(task) === "built-in" || !operates) return null;
  const edit = () => void navigate({ to: "/tasks/$id/edit", params: { id: String(task.id) } });
  const more = [
    { key: "backfill", label: t("backfillMenu") },
    ...(edits
      ? [
          { key: "after", label: t("newAfter") },
          { key: "enabled", label: task.enabled ? t("disable") : t("enable") },
          { key: "delete", label: t("deleteMenu"), danger: true },
        ]
      : []),
  ];
  return (
    <>
      <Button type="primary" icon={<CaretRightOutlined />} onClick={() => setDoing("run")}>
        {t("run")}
      </Button>
      {own ? (
        <Button icon={<StepForwardOutlined />} loading={resume.pending} onClick={() => void resume.run(own.id)}>
          {t("resume")}
        </Button>
      ) : (
        <Button icon={<PauseOutlined />} onClick={() => setDoing("pause")}>
          {t("pause")}
        </Button>
      )}
      {edits && (
        <Button icon={<EditOutlined />} onClick={edit}>
          {t("common:edit")}
        </Button>
      )}
      <Dropdown
        trigger={["click"]}
        menu={{
          items: more,
          onClick: ({ key }) => {
            if (key === "enabled") void enable.run(!task.enabled);
            else if (key === "after") void navigate({ to: "/tasks/new", search: { after: String(task.id) } as never });
            else setDoing(key as Doing);
          },
        }}
      >
        <Button loading={enable.pending}>
          {t("common:more")} <DownOutlined />
        </Button>
      </Dropdown>
      <RunDialog open={doing === "run"} onClose={() => setDoing(null)} taskId={task.id} task={task} />
      <PauseDialog open={doing === "pause"} onClose={() => setDoing(null)} scope="task" task={task} />
      {doing === "backfill" && <BackfillDialog task={task} onClose={() => setDoing(null)} />}
      {doing === "delete" && <DeleteDialog task={task} onClose={() => setDoing(null)} />}
    </>
  );
}

export function useResume() {
  const { t } = useTranslation("task");
  return useAct(
    (id: number) => answer(client.DELETE("/api/v1/pauses/{pause_id}", { params: { path: { pause_id: id } } })),
    { done: t("wasResumed"), refresh: ["/api/v1/pauses", "/api/v1/tasks"] },
  );
}
