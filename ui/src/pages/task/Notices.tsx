// What to know before anything else: that it rests, that it is switched off, that somebody else declares it.
import { Alert, Button } from "antd";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { Pause } from "../../parts/pausing";
import { useManaged } from "./managed";
import { Time } from "../../parts/Time";
import { useMay } from "../../state/session";
import type { Task } from "./about";
import { useResume } from "./Actions";

export function Notices({ task, pauses }: { task: Task; pauses: readonly Pause[] }) {
  const { t } = useTranslation("task");
  const operates = useMay("operator");
  const resume = useResume();
  const managed = useManaged(task);
  return (
    <>
      {pauses.map((pause) => (
        <Alert
          key={pause.id}
          type="info"
          showIcon
          className="task-notice"
          title={t(`paused.${pause.scope}`, { group: task.group })}
          description={
            <>
              {pause.reason}
              <div className="dim">
                {t("pausedBy", { owner: pause.owner })}{" "}
                <Time at={pause.created_at} zone={task.timezone} seconds={false} />
                {" · "}
                {pause.until ? t("resumesAt") : t("lasts")}{" "}
                {pause.until && <Time at={pause.until} zone={task.timezone} seconds={false} />}
              </div>
            </>
          }
          action={
            pause.scope === "task" ? (
              operates && (
                <Button size="small" loading={resume.pending} onClick={() => void resume.run(pause.id)}>
                  {t("resumeNow")}
                </Button>
              )
            ) : (
              <Link to="/pauses">{t("pauses")}</Link>
            )
          }
        />
      ))}
      {!task.enabled && <Alert type="warning" showIcon className="task-notice" title={t("isDisabled")} />}
      {managed && <p className="dim task-managed">{managed}</p>}
    </>
  );
}
