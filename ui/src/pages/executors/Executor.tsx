// One executor: its slots, how long ago it was heard of, and on demand what it is at.
import { DownOutlined, RightOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Button, Progress, Tag } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { Length, Time } from "../../parts/Time";
import { useMay } from "../../state/session";

type ExecutorShape = components["schemas"]["Executor"];

export function Executor({ executor }: { executor: ExecutorShape }) {
  const { t } = useTranslation("executors");
  const [open, setOpen] = useState(false);
  const labels = Object.entries(executor.labels).map(([name, value]) => `${name}=${value}`);
  return (
    <>
      <tr className={executor.alive ? "" : "executor-dead"}>
        <td>
          <Button
            type="text"
            size="small"
            icon={open ? <DownOutlined /> : <RightOutlined />}
            aria-expanded={open}
            aria-label={t("executor.show", { executor: executor.id })}
            onClick={() => setOpen(!open)}
          />{" "}
          <span className="mono">{executor.id}</span>
          <div className="executor-where dim">
            {executor.hostname}
            {executor.address && ` · ${executor.address}`} · pid {executor.pid}
          </div>
        </td>
        <td>
          <Slots executor={executor} />
        </td>
        <td>
          {executor.alive ? (
            <Time at={executor.last_heartbeat} as="relative" />
          ) : (
            <Tag color="red" variant="filled">
              {t("executor.silent")} <Time at={executor.last_heartbeat} as="relative" />
            </Tag>
          )}
        </td>
        <td>
          <Time at={executor.started_at} as="relative" />
        </td>
        <td className="mono">{executor.version}</td>
        <td className="executor-offers">
          {executor.kind !== "native" && <Tag variant="filled">{executor.kind}</Tag>}
          {executor.provides.map((one) => (
            <Tag key={one} variant="filled">
              {one}
            </Tag>
          ))}
          {labels.map((one) => (
            <Tag key={one} variant="outlined">
              {one}
            </Tag>
          ))}
        </td>
      </tr>
      {open && (
        <tr className="executor-open">
          <td colSpan={6}>
            <Runs executor={executor} />
          </td>
        </tr>
      )}
    </>
  );
}

function Slots({ executor }: { executor: ExecutorShape }) {
  const { t } = useTranslation("executors");
  const share = executor.capacity === 0 ? 0 : (100 * executor.running) / executor.capacity;
  return (
    <span className="slots">
      <Progress
        percent={share}
        showInfo={false}
        size="small"
        strokeColor={share >= 100 ? "var(--pending)" : "var(--running)"}
        aria-label={t("executor.slotsOf", { executor: executor.id })}
      />
      <span className="number">
        {executor.running} / {executor.capacity}
      </span>
    </span>
  );
}

function Runs({ executor }: { executor: ExecutorShape }) {
  const { t } = useTranslation("executors");
  const operator = useMay("operator");
  const running = useGet(
    "/api/v1/instances",
    { query: { executor_id: executor.id, status: "running", limit: 50 } },
    { every: 5_000 },
  );
  const cancel = useAct(
    (id: number) =>
      answer(client.POST("/api/v1/instances/{instance_id}/cancel", { params: { path: { instance_id: id } } })),
    { done: t("executor.cancelled"), refresh: ["/api/v1/instances"] },
  );
  if (running.isPending) return null;
  const items = running.data?.items ?? [];
  if (items.length === 0) return <span className="dim">{t("executor.idle")}</span>;
  return (
    <table className="rows">
      <tbody>
        {items.map((one) => (
          <tr key={one.id}>
            <td className="rows-name">
              <Link to="/instances/$id" params={{ id: String(one.id) }}>
                #{one.id} {one.task_name}
              </Link>
            </td>
            <td className="rows-progress">
              {one.progress !== null && (
                <Progress
                  percent={Math.round(one.progress * 100)}
                  size="small"
                  aria-label={t("executor.progress", { task: one.task_name })}
                />
              )}
            </td>
            <td className="dim">{one.phase}</td>
            <td className="rows-number">
              <Length from={one.start_time} />
            </td>
            {operator && (
              <td className="rows-number">
                <Button
                  size="small"
                  danger
                  disabled={one.cancel_requested}
                  aria-label={t("executor.cancelOf", { id: one.id })}
                  onClick={() => void cancel.run(one.id)}
                >
                  {one.cancel_requested ? t("executor.stopping") : t("executor.cancel")}
                </Button>
              </td>
            )}
          </tr>
        ))}
      </tbody>
    </table>
  );
}
