// About the chosen task: how it stands, how it went lately, what a failure of it would block, and what can be done.
import { AimOutlined, CaretRightOutlined, CloseOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Button, Skeleton, Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { isBuiltIn } from "../../parts/managed";
import { Refused } from "../../parts/Refused";
import { RunDialog } from "../../parts/RunDialog";
import { Schedule } from "../../parts/Schedule";
import { Status } from "../../parts/Status";
import { Strip } from "../../parts/Strip";
import { Length, Time } from "../../parts/Time";
import { useMay } from "../../state/session";
import type { Node } from "./shown";

type Impact = components["schemas"]["Impact"];
type Props = {
  node: Node;
  impact: Impact | undefined;
  focused: boolean;
  choose: (id: number | null) => void;
  focus: (id: number | null) => void;
};

export function Side({ node, impact, focused, choose, focus }: Props) {
  const { t } = useTranslation("graph");
  const [running, setRunning] = useState(false);
  const operator = useMay("operator");
  const task = useGet("/api/v1/tasks/{task_id}", { path: { task_id: node.id } });
  const lately = useGet("/api/v1/stats/tasks", { query: { ids: String(node.id), last: 30 } }, { keep: false });
  const stats = lately.data?.items[0];
  const id = { id: String(node.id) };
  return (
    <section className="graph-side" aria-label={t("side", { name: node.name })}>
      <header>
        <h2>
          <Link to="/tasks/$id" params={id}>
            {node.name}
          </Link>
        </h2>
        <Button type="text" icon={<CloseOutlined />} aria-label={t("common:close")} onClick={() => choose(null)} />
      </header>
      <Space wrap size={6}>
        {operator && task.data && !isBuiltIn(task.data) && (
          <Button type="primary" icon={<CaretRightOutlined />} onClick={() => setRunning(true)}>
            {t("run")}
          </Button>
        )}
        <Button icon={<AimOutlined />} onClick={() => focus(focused ? null : node.id)}>
          {focused ? t("unfocus") : t("focus")}
        </Button>
      </Space>
      <Refused refusal={task.error} again={() => void task.refetch()} />
      <dl className="graph-facts">
        <dt>{t("fact.now")}</dt>
        <dd>
          <Now node={node} />
        </dd>
        <dt>{t("fact.lately")}</dt>
        <dd>
          {stats ? (
            <Strip endings={stats.endings} zone={task.data?.timezone} />
          ) : (
            <Skeleton.Input active size="small" />
          )}
        </dd>
        {stats?.median_ms != null && (
          <>
            <dt>{t("fact.median")}</dt>
            <dd>
              <Length ms={stats.median_ms} />
            </dd>
          </>
        )}
        <dt>{t("fact.schedule")}</dt>
        <dd>{task.data ? <Schedule schedule={task.data.schedule} zone={task.data.timezone} /> : node.schedule}</dd>
        {task.data?.next_fire_at && (
          <>
            <dt>{t("fact.next")}</dt>
            <dd>
              <Time at={task.data.next_fire_at} zone={task.data.timezone} />
            </dd>
          </>
        )}
        <dt>{t("fact.group")}</dt>
        <dd>{node.group}</dd>
      </dl>
      <Blocks impact={impact} choose={choose} />
      <p className="graph-ways">
        <Link to="/instances" search={{ task_id: String(node.id) } as never}>
          {t("instances")}
        </Link>
        <Link to="/timeline" search={{ task: String(node.id) } as never}>
          {t("timeline")}
        </Link>
      </p>
      <RunDialog open={running} onClose={() => setRunning(false)} taskId={node.id} task={task.data} />
    </section>
  );
}

function Now({ node }: { node: Node }) {
  const { t } = useTranslation("graph");
  const status = node.running ? "running" : node.last_outcome;
  return (
    <>
      {status ? <Status status={status} /> : t("state.never")}{" "}
      {node.instance_id !== null && (
        <Link to="/instances/$id" params={{ id: String(node.instance_id) }}>
          #{node.instance_id}
        </Link>
      )}{" "}
      {node.last_time && !node.running && (
        <span className="dim">
          <Time at={node.last_time} as="relative" />
        </span>
      )}
      {node.waiting > 0 && <div>{t("state.waiting", { count: node.waiting })}</div>}
      {node.paused && <div>{t("paused")}</div>}
      {!node.enabled && <div>{t("off")}</div>}
    </>
  );
}

const LISTED = 50;

function Blocks({ impact, choose }: { impact: Impact | undefined; choose: (id: number) => void }) {
  const { t } = useTranslation("graph");
  if (impact === undefined) return <Skeleton active title={false} paragraph={{ rows: 2 }} />;
  const count = impact.items.length + impact.hidden;
  return (
    <>
      <h3>{t("impact")}</h3>
      <p className={count === 0 ? "dim" : undefined}>
        {count === 0 ? t("blocksNothing") : t("blocks", { count })}
        {impact.hidden > 0 && ` ${t("hidden", { count: impact.hidden })}`}
      </p>
      {impact.items.length > 0 && (
        <table className="rows">
          <tbody>
            {impact.items.slice(0, LISTED).map((one) => (
              <tr key={one.task_id}>
                <td className="rows-cut">
                  <Button type="link" size="small" className="graph-go" onClick={() => choose(one.task_id)}>
                    {one.name}
                  </Button>
                </td>
                <td className="rows-fixed">{t(`policy.${one.policy}`)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {impact.items.length > LISTED && (
        <p className="dim">{t("blocksMore", { count: impact.items.length - LISTED })}</p>
      )}
    </>
  );
}
