// When it fires next: in words, then each instant by the task's clock.
import { Skeleton } from "antd";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Refused } from "../../parts/Refused";
import { useScheduleWords } from "../../parts/Schedule";
import { Time } from "../../parts/Time";
import { partsIn } from "../../time/format";
import { useZone } from "../../time/zone";
import type { Task } from "./about";
import { Panel } from "./Panel";

/** An instant as the server writes it within a sentence. */
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

export function Upcoming({ task, count = 6 }: { task: Task; count?: number }) {
  const { t } = useTranslation("task");
  const inWords = useScheduleWords();
  const shown = useZone(task.timezone);
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
              const here = partsIn(new Date(instant), shown, { seconds: false });
              return (
                <li key={instant}>
                  <time dateTime={instant} className="number">
                    {parts.date} {parts.clock} <span className="zone">{parts.zone}</span>
                  </time>
                  {here.zone !== parts.zone && (
                    // By the clock of all other times on the page too: nobody should have to add hours at night.
                    <span className="dim number">
                      {here.clock} <span className="zone">{here.zone}</span>
                    </span>
                  )}
                  <span className="dim task-until">
                    <Time at={instant} zone={task.timezone} as="relative" />
                  </span>
                </li>
              );
            })}
          </ol>
          {found.data.notes.map((note) => (
            <p key={note} className="dim task-note">
              {note.replaceAll(INSTANT, (instant) => {
                const parts = partsIn(new Date(instant), shown);
                return `${parts.date} ${parts.clock} ${parts.zone}`;
              })}
            </p>
          ))}
        </>
      )}
    </Panel>
  );
}
