// One executor: its slots, how long ago it was heard of, and on demand what it is at.
import { DownOutlined, RightOutlined } from "@ant-design/icons";
import { Button, Progress, Tag } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { Time } from "../../parts/Time";
import { Executing } from "./Executing";

type ExecutorShape = components["schemas"]["Executor"];

export function Executor({ executor, opened = false }: { executor: ExecutorShape; opened?: boolean }) {
  const { t } = useTranslation("executors");
  const [open, setOpen] = useState(opened);
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
            <Executing executor={executor} />
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
