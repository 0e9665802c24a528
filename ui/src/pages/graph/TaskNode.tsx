// One task in the graph: its name, and how it stands, by a mark, a word and a colour.
import {
  CheckCircleFilled,
  ClockCircleOutlined,
  CloseCircleFilled,
  MinusCircleOutlined,
  PauseCircleOutlined,
  StopOutlined,
  SyncOutlined,
} from "@ant-design/icons";
import { Handle, Position, type Node as FlowNode, type NodeProps } from "@xyflow/react";
import { memo, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { relative } from "../../time/format";
import { useNowBy } from "../../time/now";
import type { Direction } from "./layout";
import { stateOf, type Node, type State } from "./shown";

export type Drawn = {
  task: Node;
  direction: Direction;
  chosen: boolean;
  /** A failure of the chosen one would block it. */
  blocked: boolean;
  /** Beside what is looked at. */
  faint: boolean;
  /** Where the tabulator key enters the graph. */
  entry: boolean;
};
export type TaskFlowNode = FlowNode<Drawn, "task">;

const MARKS: Record<State, ReactNode> = {
  running: <SyncOutlined />,
  success: <CheckCircleFilled />,
  failed: <CloseCircleFilled />,
  cancelled: <StopOutlined />,
  waiting: <ClockCircleOutlined />,
  never: <MinusCircleOutlined />,
};

export const TaskNode = memo(function TaskNode({ data }: NodeProps<TaskFlowNode>) {
  const { t, i18n } = useTranslation("graph");
  const now = useNowBy(10_000);
  const { task, direction } = data;
  const state = stateOf(task);
  const classes = [
    "graph-node",
    `graph-is-${state}`,
    data.chosen && "graph-chosen",
    data.blocked && "graph-blocked",
    data.faint && "graph-faint",
    !task.enabled && "graph-off",
  ];
  const words = [
    t(`state.${state}`, { count: task.waiting }),
    task.paused && t("paused"),
    !task.enabled && t("off"),
    data.blocked && t("blocked"),
  ].filter(Boolean);
  const told = !data.blocked && task.last_time && !task.running && task.enabled && !task.paused;
  const when = told && relative(new Date(task.last_time ?? now), new Date(now), i18n.language);
  return (
    <>
      <Handle type="target" position={direction === "LR" ? Position.Left : Position.Top} isConnectable={false} />
      <button
        type="button"
        data-task={task.id}
        className={classes.filter(Boolean).join(" ")}
        aria-label={`${task.name}: ${[...words, when].filter(Boolean).join(", ")}`}
        aria-pressed={data.chosen}
        title={task.name}
        tabIndex={data.entry ? 0 : -1}
      >
        <span className="graph-name">{task.name}</span>{" "}
        <span className="graph-state">
          <span className="graph-mark">{MARKS[state]}</span>
          <span className="graph-words">{words.join(" · ")}</span>{" "}
          {task.paused && <PauseCircleOutlined className="graph-paused" />}
          {when && <span className="graph-when">{when}</span>}
        </span>
      </button>
      <Handle type="source" position={direction === "LR" ? Position.Right : Position.Bottom} isConnectable={false} />
    </>
  );
}, same);

/** Hundreds are drawn, and with each refresh few of them differ. */
function same(before: NodeProps<TaskFlowNode>, after: NodeProps<TaskFlowNode>): boolean {
  const names = Object.keys(after.data) as (keyof Drawn)[];
  return names.every((name) => before.data[name] === after.data[name]);
}
