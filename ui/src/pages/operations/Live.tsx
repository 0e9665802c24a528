// It is at work, or was: phases, how far it has come, its log; and at the end what was done, verified.
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Button, Skeleton } from "antd";
import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { Refused } from "../../parts/Refused";
import { Status } from "../../parts/Status";
import { Actions } from "../instance/Actions";
import { Explain } from "../instance/Explain";
import { Log } from "../instance/log/Log";
import { Progress } from "../instance/Progress";
import { End } from "./End";
import { phasesOf } from "./plan";
import type { Place } from "./wizard";
import "../instance/instance.css";

type Instance = components["schemas"]["Instance"];
const PATH = "/api/v1/instances/{instance_id}";

export function Live({ id, place }: { id: number; place: Place }) {
  const found = useGet(PATH, { path: { instance_id: id } });
  if (found.data) return <Found key={id} instance={found.data} place={place} />;
  if (found.error) return <Refused refusal={found.error} again={() => void found.refetch()} />;
  return <Skeleton active paragraph={{ rows: 8 }} />;
}

function Found({ instance, place }: { instance: Instance; place: Place }) {
  const { t } = useTranslation("operations");
  const queries = useQueryClient();
  const { id } = instance;
  const path = { instance_id: id };
  const task = useGet("/api/v1/tasks/{task_id}", { path: { task_id: instance.task_id } }, { every: false });
  const attempts = useGet("/api/v1/instances/{instance_id}/attempts", { path });
  const numbers = useMemo(
    () => new Map((attempts.data?.items ?? []).map((attempt, index) => [attempt.fence, index + 1])),
    [attempts.data],
  );
  const onInstance = useCallback(
    (state: Instance) => queries.setQueryData([PATH, { path: { instance_id: id } }], state),
    [queries, id],
  );
  const ignore = useCallback(() => undefined, []);
  const phases = phasesOf(instance.args, instance.phase, instance.status === "success");
  const ended = instance.end_time !== null;
  return (
    <>
      <div className="operations-live-head">
        <Status status={instance.status} skipped={instance.skip_reason} />
        <Link to="/instances/$id" params={{ id: String(id) }}>
          {t("live.instance", { id })}
        </Link>
        <span className="operations-buttons">
          <Actions instance={instance} task={task.data} />
          {ended && place.text !== null && (
            <Button onClick={() => place.go({ config: place.text ?? undefined })}>{t("live.another")}</Button>
          )}
        </span>
      </div>
      {instance.status === "success" && <End instance={instance} />}
      {instance.status === "failed" && (
        <section className="instance-error" aria-label={t("live.failed")}>
          {instance.error_message}
        </section>
      )}
      <Explain instance={instance} zone={null} />
      {instance.status === "running" && <Progress instance={instance} />}
      {phases.length > 0 && (
        <ol className="operations-phases" aria-label={t("live.phases")}>
          {phases.map(({ name, state }, index) => (
            <li
              key={`${name} ${index}`}
              className={`operations-phase-${state}`}
              aria-current={state === "now" ? "step" : undefined}
            >
              {name}
            </li>
          ))}
        </ol>
      )}
      <div className="operations-log">
        <Log instance={instance} zone={null} attempts={numbers} onInstance={onInstance} onRows={ignore} />
      </div>
    </>
  );
}
