// What, when and where.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { Length, Time } from "../../parts/Time";
import type { Phases } from "./phases";

type Instance = components["schemas"]["Instance"];
type Props = { instance: Instance; zone: string | null; phases: Phases };

export function Facts({ instance, zone, phases }: Props) {
  const { t } = useTranslation("instance");
  const rows: [string, ReactNode][] = [
    [t("fact.scheduled"), <Time key="s" at={instance.scheduled_time} zone={zone} />],
    [t("fact.started"), instance.start_time && <Time key="b" at={instance.start_time} zone={zone} />],
    [t("fact.ended"), instance.end_time && <Time key="e" at={instance.end_time} zone={zone} />],
    [t("fact.took"), instance.end_time && <Length key="l" ms={instance.duration_ms} />],
    [t("fact.available"), instance.status === "pending" && <Time key="a" at={instance.available_at} zone={zone} />],
    [
      t("fact.executor"),
      instance.executor_id && (
        <Link key="x" to="/executors" search={{ executor: instance.executor_id } as never}>
          {instance.executor_id}
        </Link>
      ),
    ],
    [t("fact.group"), instance.group],
    [t("fact.priority"), instance.priority],
    [t("fact.triggered"), by(t(`trigger.${instance.triggered_by}`), instance.requested_by)],
    [t("fact.version"), instance.task_version],
    [t("fact.shard"), instance.shard_total > 1 && `${instance.shard_index + 1} / ${instance.shard_total}`],
    [t("fact.key"), instance.key],
    [t("fact.concurrency"), instance.concurrency_key],
    [t("fact.losses"), instance.loss_count > 0 && instance.loss_count],
    [t("fact.retries"), instance.manual_retries > 0 && instance.manual_retries],
    [t("fact.backup"), instance.backup_reference],
    [t("fact.notes"), instance.notes],
  ];
  return (
    <>
      {phases.phases.length > 0 && (
        <section className="instance-part">
          <h2>{t("phases")}</h2>
          <ol className="instance-phases">
            {phases.more && <li className="dim">{t("earlierPhases")}</li>}
            {phases.phases.map((phase) => (
              <li key={`${phase.name} ${phase.from}`}>
                <span>{phase.name}</span>
                <Time at={phase.from} zone={zone} as="clock" />
              </li>
            ))}
          </ol>
        </section>
      )}
      <section className="instance-part">
        <h2>{t("facts")}</h2>
        <dl className="instance-facts">
          {rows
            .filter(([, value]) => value !== null && value !== false && value !== "")
            .map(([name, value]) => (
              <div key={name}>
                <dt>{name}</dt>
                <dd>{value}</dd>
              </div>
            ))}
        </dl>
      </section>
    </>
  );
}

function by(how: string, who: string | null): string {
  return who === null ? how : `${how} · ${who}`;
}
