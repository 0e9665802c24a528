// Operations of late: those that live first, with how far they have come.
import { Link } from "@tanstack/react-router";
import { Skeleton } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { ProgressBar } from "../../parts/ProgressBar";
import { Refused } from "../../parts/Refused";
import { Status } from "../../parts/Status";
import { Length, Time } from "../../parts/Time";
import { usePlanWords } from "./words";

type Instance = components["schemas"]["Instance"];

export function Recent() {
  const { t } = useTranslation("operations");
  const found = useGet("/api/v1/instances", { query: { type: "operation", limit: 12 } }, { keep: true });
  const sources = useGet("/api/v1/data-sources");
  const names = new Map((sources.data?.items ?? []).map((one) => [one.id, one.name]));
  const items = found.data?.items ?? [];
  return (
    <section className="operations-panel" aria-label={t("recent.title")}>
      <header>
        <h2>{t("recent.title")}</h2>
        <Link to="/instances" search={{ type: "operation" } as never}>
          {t("recent.all")}
        </Link>
      </header>
      <Refused refusal={found.error} again={() => void found.refetch()} />
      {found.isLoading && <Skeleton active title={false} paragraph={{ rows: 4 }} />}
      {found.data && items.length === 0 && <p className="dim">{t("recent.none")}</p>}
      <ul className="operations-recent">
        {items.map((one) => (
          <Row key={one.id} instance={one} source={names.get(one.data_source_id ?? 0) ?? null} />
        ))}
      </ul>
    </section>
  );
}

/** The kind that a task of the type operation names is in its own name, or in what the instance was given. */
function Row({ instance, source }: { instance: Instance; source: string | null }) {
  const { t } = useTranslation("operations");
  const say = usePlanWords();
  const { id, task_name: task, operation_kind: kind } = instance;
  const name = task.replace(/^operation:/, "");
  return (
    <li>
      <div className="operations-recent-head">
        <Link to="/instances/$id" params={{ id: String(id) }}>
          {name} <span className="dim">#{id}</span>
        </Link>
        <Status status={instance.status} skipped={instance.skip_reason} />
      </div>
      <div className="dim operations-recent-about">
        {kind !== null && kind !== name && <span>{kind}</span>}
        {source !== null && <span>{source}</span>}
        {instance.phase !== null && instance.end_time === null && <span>{say.phase(instance.phase)}</span>}
        {instance.start_time !== null && <Length from={instance.start_time} to={instance.end_time} />}
        <Time at={instance.end_time ?? instance.start_time ?? instance.scheduled_time} as="relative" />
      </div>
      {instance.status === "running" && instance.progress !== null && (
        <ProgressBar fraction={instance.progress} label={t("recent.progress", { name })} />
      )}
      {instance.status === "failed" && <div className="operations-recent-error">{instance.error_message}</div>}
    </li>
  );
}
