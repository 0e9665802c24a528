// It is at work, or was: phases, how far it has come, its log; and at the end what was done, verified.
import { Link } from "@tanstack/react-router";
import { Button, Skeleton } from "antd";
import { useCallback } from "react";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { Refused } from "../../parts/Refused";
import { Status } from "../../parts/Status";
import { Actions } from "../instance/Actions";
import { Explain } from "../instance/Explain";
import { Log } from "../instance/log/Log";
import { Progress } from "../instance/Progress";
import { useFollowed, useInstance } from "../instance/useFollowed";
import { End } from "./End";
import { phasesOf } from "./plan";
import type { Place } from "./wizard";
import "../instance/instance.css";

type Instance = components["schemas"]["Instance"];

export function Live({ id, place }: { id: number; place: Place }) {
  const found = useInstance(id);
  if (found.data) return <Found key={id} instance={found.data} place={place} />;
  if (found.error) return <Refused refusal={found.error} again={() => void found.refetch()} />;
  return <Skeleton active paragraph={{ rows: 8 }} />;
}

function Found({ instance, place }: { instance: Instance; place: Place }) {
  const { t } = useTranslation("operations");
  const { id } = instance;
  const { task, numbers, retried, onInstance, onRetried } = useFollowed(instance);
  const zone = task?.timezone ?? null;
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
          <Actions instance={instance} task={task} onRetried={onRetried} />
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
      <Explain instance={instance} zone={zone} />
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
        <Log
          instance={instance}
          zone={zone}
          attempts={numbers}
          retried={retried}
          onInstance={onInstance}
          onRows={ignore}
        />
      </div>
    </>
  );
}
