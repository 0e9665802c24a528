// What it runs after, what runs after it, and what a failure of it would block.
import { Link } from "@tanstack/react-router";
import { Skeleton } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { Panel } from "../../parts/Panel";
import { Refused } from "../../parts/Refused";
import { Status } from "../../parts/Status";
import { Time } from "../../parts/Time";
import type { Task } from "./about";

type Node = components["schemas"]["GraphNode"];

export function Dependencies({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const graph = useGet("/api/v1/tasks/graph", { query: { task_id: task.id } });
  const impact = useGet("/api/v1/tasks/{task_id}/impact", { path: { task_id: task.id } });
  const nodes = new Map((graph.data?.nodes ?? []).map((node) => [node.id, node]));
  const edges = graph.data?.edges ?? [];
  const named = (ids: number[]) => ids.map((id) => nodes.get(id)).filter((node) => node !== undefined);
  const before = named(edges.filter((edge) => edge.task_id === task.id).map((edge) => edge.depends_on_id));
  const after = named(edges.filter((edge) => edge.depends_on_id === task.id).map((edge) => edge.task_id));
  const whole = (
    <Link to="/graph" search={{ task: String(task.id) } as never}>
      {t("graph")}
    </Link>
  );
  return (
    <div className="task-columns">
      <div>
        <Panel title={t("runsAfter")} aside={whole}>
          <Refused refusal={graph.error} again={() => void graph.refetch()} />
          {graph.isPending && <Skeleton active title={false} paragraph={{ rows: 2 }} />}
          {graph.data && before.length === 0 && <p className="dim">{t("needsNothing")}</p>}
          {before.length > 0 && (
            <p className="dim">
              {t(`policy.dependency_mode.${task.dependency_mode}`)}{" "}
              {t(`policy.upstream_failure_policy.${task.upstream_failure_policy}`)}
            </p>
          )}
          <Nodes nodes={before} />
        </Panel>
        <Panel title={t("neededBy")}>
          {graph.data && after.length === 0 && <p className="dim">{t("neededByNothing")}</p>}
          <Nodes nodes={after} />
        </Panel>
      </div>
      <Panel title={t("impact")}>
        <Refused refusal={impact.error} again={() => void impact.refetch()} />
        {impact.isPending && <Skeleton active title={false} paragraph={{ rows: 2 }} />}
        {impact.data && (
          <>
            <p>
              {impact.data.items.length === 0
                ? t("blocksNothing")
                : t("blocks", { count: impact.data.items.length + impact.data.hidden })}
              {impact.data.hidden > 0 && ` ${t("blocksHidden", { count: impact.data.hidden })}`}
            </p>
            {impact.data.items.length > 0 && (
              <div className="task-scroll">
                <table className="rows">
                  <tbody>
                    {impact.data.items.map((one) => (
                      <tr key={one.task_id}>
                        <td style={{ paddingInlineStart: (Math.min(one.depth, 8) - 1) * 14 }}>
                          <Link to="/tasks/$id" params={{ id: String(one.task_id) }}>
                            {one.name}
                          </Link>
                        </td>
                        <td className="dim">{t(`blocked.${one.policy}`)}</td>
                        <td>{one.next_fire_at && <Time at={one.next_fire_at} as="relative" />}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )}
          </>
        )}
      </Panel>
    </div>
  );
}

function Nodes({ nodes }: { nodes: Node[] }) {
  const { t } = useTranslation("task");
  if (nodes.length === 0) return null;
  return (
    <div className="task-scroll">
      <table className="rows">
        <tbody>
          {nodes.map((node) => (
            <tr key={node.id}>
              <td>
                <Link to="/tasks/$id" params={{ id: String(node.id) }}>
                  {node.name}
                </Link>
                {!node.enabled && <span className="dim"> {t("disabled")}</span>}
              </td>
              <td>
                {node.running ? (
                  <Status status="running" />
                ) : node.last_outcome ? (
                  <Status status={node.last_outcome} />
                ) : (
                  <span className="dim">{t("neverRan")}</span>
                )}
              </td>
              <td className="dim">{node.last_time && <Time at={node.last_time} as="relative" />}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
