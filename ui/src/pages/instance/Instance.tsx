// One instance: how it stands and why, what it wrote, and what can be done about it.
import { Link, useParams } from "@tanstack/react-router";
import { Skeleton } from "antd";
import { useCallback, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { AuditedFold } from "../../parts/Audited";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { Status } from "../../parts/Status";
import { Time } from "../../parts/Time";
import { Missing } from "../../shell/Missing";
import { idOf } from "../../state/url";
import { Actions } from "./Actions";
import { Attempts } from "./Attempts";
import { Explain } from "./Explain";
import { Facts } from "./Facts";
import { Log } from "./log/Log";
import { fenceOf, type Row } from "./log/rows";
import { phasesOf, type Phases } from "./phases";
import { Progress } from "./Progress";
import { useFollowed, useInstance } from "./useFollowed";
import { Values } from "./Values";
import "./instance.css";

type Shape = components["schemas"]["Instance"];
const PHASES_EVERY = 1_000;

export function InstancePage() {
  const { id } = useParams({ strict: false });
  const number = idOf(id);
  return number === null ? <Missing /> : <Numbered id={number} />;
}

function Numbered({ id }: { id: number }) {
  const { t } = useTranslation("instance");
  const found = useInstance(id);
  if (found.data === undefined) {
    return (
      <Page title={t("title", { id })}>
        {found.error ? <Refused refusal={found.error} again={() => void found.refetch()} /> : <Skeleton active />}
      </Page>
    );
  }
  // Another instance is another page: nothing of the one before may be left.
  return <Found key={id} instance={found.data} />;
}

function Found({ instance }: { instance: Shape }) {
  const { t } = useTranslation("instance");
  const { id } = instance;
  const { task, attempts, numbers, retried, onInstance, onRetried } = useFollowed(instance);
  const zone = task?.timezone ?? null;
  const [phases, setPhases] = useState<Phases>({ phases: [], more: false });
  const counted = useRef(0);

  const onRows = useCallback((rows: readonly Row[], quiet: boolean) => {
    if (!quiet && Date.now() - counted.current < PHASES_EVERY) return;
    counted.current = Date.now();
    setPhases(phasesOf(rows, fenceOf));
  }, []);

  return (
    <Page
      title={`${instance.task_name} #${id}`}
      mark={<Status status={instance.status} skipped={instance.skip_reason} />}
      about={
        <span className="instance-about">
          <Link to="/tasks/$id" params={{ id: String(instance.task_id) }}>
            {t("toTask")}
          </Link>
          <span>
            {t("scheduled")} <Time at={instance.scheduled_time} zone={zone} />
          </span>
          <Link to="/instances" search={{ task_id: String(instance.task_id) } as never}>
            {t("others")}
          </Link>
        </span>
      }
      actions={<Actions instance={instance} task={task} onRetried={onRetried} />}
    >
      {instance.status === "failed" && (
        <section className="instance-error" aria-label={t("error")}>
          {instance.error_message ?? t("noMessage")}
        </section>
      )}
      <Explain instance={instance} zone={zone} />
      {instance.status === "running" && <Progress instance={instance} />}
      <div className="instance-body">
        <Log
          instance={instance}
          zone={zone}
          attempts={numbers}
          retried={retried}
          onInstance={onInstance}
          onRows={onRows}
        />
        <aside className="instance-side">
          <Attempts attempts={attempts} zone={zone} />
          <Facts instance={instance} zone={zone} phases={phases} />
          <Values instance={instance} />
          <AuditedFold of={{ type: "instance", id }} zone={zone} />
        </aside>
      </div>
    </Page>
  );
}
