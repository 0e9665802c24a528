// What it is: what it runs, and each policy in a sentence.
import { Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { Json } from "../../parts/Json";
import { Panel } from "../../parts/Panel";
import { lengthOf } from "../../time/format";
import type { Task } from "./about";

const length = (seconds: number) => lengthOf(seconds * 1_000);

export function Definition({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const labels = Object.entries(task.executor_labels);
  return (
    <div className="task-columns">
      <div>
        <Panel title={t("payload")}>
          <Json value={task.payload} label={t("payload")} />
        </Panel>
        {task.args_schema && (
          <Panel title={t("argsSchema")}>
            <Json value={task.args_schema} label={t("argsSchema")} />
          </Panel>
        )}
      </div>
      <Panel title={t("policies")}>
        <dl className="task-policies">
          <Policy name={t("field.priority")}>{t("priority", { priority: task.priority })}</Policy>
          <Policy name={t("field.timeout")}>
            {task.timeout_seconds === null ? t("timeoutNone") : t("timeout", { length: length(task.timeout_seconds) })}
          </Policy>
          <Policy name={t("field.retries")}>
            {task.max_retries
              ? t(`retries.${task.retry_backoff}`, {
                  count: task.max_retries,
                  delay: length(task.retry_delay_seconds),
                })
              : t("retriesNone")}
          </Policy>
          <Policy name={t("field.misfire")}>
            {t(`policy.misfire_policy.${task.misfire_policy}`, { limit: task.catch_up_limit })}{" "}
            {t("grace", { length: length(task.misfire_grace_seconds) })}
          </Policy>
          <Policy name={t("field.overlap")}>{t(`policy.overlap_policy.${task.overlap_policy}`)}</Policy>
          <Policy name={t("field.loss")}>{t(`policy.executor_loss_policy.${task.executor_loss_policy}`)}</Policy>
          {task.dependency_ids.length > 0 && (
            <Policy name={t("field.dependencies")}>
              {t(`policy.dependency_mode.${task.dependency_mode}`)}{" "}
              {t(`policy.upstream_failure_policy.${task.upstream_failure_policy}`)}{" "}
              {t("dependencyTimeout", { length: length(task.dependency_timeout_seconds) })}
            </Policy>
          )}
          <Policy name={t("field.where")}>
            {task.broadcast ? t("broadcast", { group: task.group }) : t("anywhere", { group: task.group })}{" "}
            {labels.map(([name, value]) => (
              <Tag key={name} variant="filled">
                {name}={value}
              </Tag>
            ))}
          </Policy>
          {task.concurrency_key && (
            <Policy name={t("field.concurrency")}>
              {t("concurrency", { key: task.concurrency_key, count: task.concurrency_limit })}
            </Policy>
          )}
        </dl>
      </Panel>
    </div>
  );
}

function Policy({ name, children }: { name: string; children: ReactNode }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
