// When it fires next: in words, then each instant by the task's clock.
import { Skeleton } from "antd";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Panel } from "../../parts/Panel";
import { useNotes } from "../../parts/notes";
import { Refused } from "../../parts/Refused";
import { useScheduleWords } from "../../parts/Schedule";
import { Time } from "../../parts/Time";
import { partsIn } from "../../time/format";
import { readSchedule } from "../../time/schedule";
import { useZone } from "../../time/zone";
import type { Task } from "./about";

export function Upcoming({ task, count = 6 }: { task: Task; count?: number }) {
  const { t } = useTranslation("task");
  const inWords = useScheduleWords();
  const told = useNotes();
  const shown = useZone(task.timezone);
  const afterOthers = readSchedule(task.schedule).form === "upstream";
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
          {found.data.instants.length === 0 && <p className="dim">{t(afterOthers ? "noNextUpstream" : "noNext")}</p>}
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
              {told(note, task.timezone)}
            </p>
          ))}
        </>
      )}
    </Panel>
  );
}
