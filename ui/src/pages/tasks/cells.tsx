// What is said of a task in its row, or in its card where there is no room for rows.
import { Link } from "@tanstack/react-router";
import { Tag } from "antd";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import type { Pause } from "../../parts/pausing";
import { Schedule } from "../../parts/Schedule";
import { Time } from "../../parts/Time";
import type { Stats } from "./lately";
import { State } from "./State";

export type Task = components["schemas"]["Task"];

export function Name({ task }: { task: Task }) {
  const { t } = useTranslation("tasks");
  return (
    <div className="tasks-two">
      <Link
        to="/tasks/$id"
        params={{ id: String(task.id) }}
        className="tasks-name"
        title={task.description ?? undefined}
      >
        {task.name}
      </Link>
      <div className="dim">
        {t(`type.${task.type}`)} · {task.group}
      </div>
    </div>
  );
}

export function When({ task }: { task: Task }) {
  return (
    <div className="tasks-two">
      <Schedule schedule={task.schedule} zone={task.timezone} />
      <div className="dim tasks-zone">{task.timezone}</div>
    </div>
  );
}

export function Next({ task, pauses }: { task: Task; pauses: readonly Pause[] }) {
  if (!task.enabled || pauses.length > 0) return <State task={task} pauses={pauses} />;
  if (task.next_fire_at === null) return <span className="dim">–</span>;
  return (
    <div className="tasks-two">
      <Time at={task.next_fire_at} zone={task.timezone} as="relative" />
      <div className="dim">
        <Time at={task.next_fire_at} zone={task.timezone} />
      </div>
    </div>
  );
}

export function Alive({ task, stats }: { task: Task; stats: Stats | null | undefined }) {
  const { t } = useTranslation("tasks");
  if (!stats || stats.running + stats.pending + stats.planned === 0) return null;
  const [status, count] =
    stats.running > 0 ? (["running", stats.running] as const) : (["pending", stats.pending + stats.planned] as const);
  return (
    <Link
      to="/instances"
      search={{ task_id: String(task.id), ...(status === "running" ? { status } : {}) } as never}
      className="tasks-alive"
    >
      {status === "running" ? t("running", { count }) : t("waiting", { count })}
    </Link>
  );
}

export function Whose({ task }: { task: Task }) {
  return (
    <div className="tasks-two">
      {task.owner && <div>{task.owner}</div>}
      <div className="tasks-tags">
        {task.tags.map((tag) => (
          <Link key={tag} to="/tasks" search={{ tag } as never}>
            <Tag variant="filled">{tag}</Tag>
          </Link>
        ))}
      </div>
    </div>
  );
}
