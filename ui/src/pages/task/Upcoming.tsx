// When it fires next: in words, then each instant by the task's clock.
import { Skeleton } from "antd";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Refused } from "../../parts/Refused";
import { useScheduleWords } from "../../parts/Schedule";
import { Time } from "../../parts/Time";
import { partsIn } from "../../time/format";
import type { Task } from "./about";
import { Panel } from "./Panel";

export function Upcoming({ task, count = 6 }: { task: Task; count?: number }) {
  const { t } = useTranslation("task");
  const inWords = useScheduleWords();
  const found = useGet("/api/v1/tasks/{task_id}/upcoming", { path: { task_id: task.id }, query: { count } });
  return (
    <Panel title={t("next")} aside={<Link to="/calendar">{t("calendar")}</Link>}>
      <p className="task-words">
        {inWords(task.schedule, task.timezone)}
        <span className="dim">
          {" "}
          <code>{task.schedule}</code> · {task.timezone}
        </span>
      </p>
      <Refused refusal={found.error} again={() => void found.refetch()} />
      {found.isPending && <Skeleton active title={false} paragraph={{ rows: 3 }} />}
      {found.data && (
        <>
          {found.data.instants.length === 0 && <p className="dim">{t("noNext")}</p>}
          <ol className="task-instants">
            {found.data.instants.map((instant) => {
              const parts = partsIn(new Date(instant), task.timezone);
              return (
                <li key={instant}>
                  <time dateTime={instant} className="number">
                    {parts.date} {parts.clock} <span className="zone">{parts.zone}</span>
                  </time>
                  <span className="dim">
                    <Time at={instant} zone={task.timezone} as="relative" />
                  </span>
                </li>
              );
            })}
          </ol>
          {found.data.notes.map((note) => (
            <p key={note} className="dim task-note">
              {note}
            </p>
          ))}
        </>
      )}
    </Panel>
  );
}
