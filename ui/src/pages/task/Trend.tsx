// How it went lately: the strip, the figures and how long it took.
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";

import { Chart } from "../../parts/Chart";
import { Panel } from "../../parts/Panel";
import { Strip } from "../../parts/Strip";
import { Length } from "../../parts/Time";
import { useDark } from "../../state/preferences";
import { useZone } from "../../time/zone";
import type { Task } from "./about";
import { failedShare, trendOption, type Stats } from "./trend";

export function Trend({ task, stats }: { task: Task; stats: Stats }) {
  const { t } = useTranslation("task");
  const navigate = useNavigate();
  const dark = useDark();
  const zone = useZone(task.timezone);
  const option = useMemo(
    () =>
      trendOption(stats, {
        dark,
        zone,
        median: t("median"),
        p95: t("p95"),
        word: (outcome) => t(`common:status.${outcome}`),
      }),
    [stats, dark, zone, t],
  );
  const { failed, ran } = failedShare(stats.endings);
  const points = stats.endings.filter((one) => one.start_time !== null && !one.skip_reason);
  const listed = (status: string) => ({ task_id: String(task.id), status }) as never;
  return (
    <Panel title={t("lately")} aside={<Strip endings={stats.endings} zone={task.timezone} />}>
      <dl className="task-figures">
        <Figure name={t("median")}>
          <Length ms={stats.median_ms} />
        </Figure>
        <Figure name={t("p95")}>
          <Length ms={stats.p95_ms} />
        </Figure>
        <Figure name={t("failedOf", { count: ran })}>
          <span className={failed > 0 ? "task-bad" : ""}>{failed}</span>
        </Figure>
        <Figure name={t("common:status.running")}>
          <Link to="/instances" search={listed("running")}>
            {stats.running}
          </Link>
        </Figure>
        {(["pending", "planned"] as const).map((status) => (
          <Figure key={status} name={t(`common:status.${status}`)}>
            <Link to="/instances" search={listed(status)}>
              {stats[status]}
              {stats.more && "+"}
            </Link>
          </Figure>
        ))}
      </dl>
      {points.length > 1 && (
        <Chart
          option={option}
          height={170}
          label={t("trend", { count: points.length })}
          onClick={({ dataIndex }) => {
            const one = points[dataIndex];
            if (one) void navigate({ to: "/instances/$id", params: { id: String(one.instance_id) } });
          }}
        />
      )}
    </Panel>
  );
}

function Figure({ name, children }: { name: string; children: React.ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd className="number">{children}</dd>
    </div>
  );
}
