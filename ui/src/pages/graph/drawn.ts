// What is shown, as the drawing library wants it.
import { MarkerType, Position, type Edge as FlowEdge } from "@xyflow/react";

import { HEIGHT, WIDTH, type Direction, type Place } from "./layout";
import type { Shown } from "./shown";
import type { TaskFlowNode } from "./TaskNode";

type Looks = {
  direction: Direction;
  chosen: number | null;
  blocked: ReadonlySet<number>;
};

export function drawnNodes(shown: Shown, places: ReadonlyMap<number, Place>, looks: Looks): TaskFlowNode[] {
  const { direction, chosen, blocked } = looks;
  const there = shown.nodes.filter((node) => places.has(node.id));
  const entry = there.some((node) => node.id === chosen) ? chosen : there[0]?.id;
  return there.map((task) => ({
    id: String(task.id),
    type: "task",
    position: places.get(task.id) ?? { x: 0, y: 0 },
    // All of one size that is known beforehand: nothing has to be measured before edges can be drawn.
    width: WIDTH,
    height: HEIGHT,
    measured: { width: WIDTH, height: HEIGHT },
    handles: handles(direction),
    data: {
      task,
      direction,
      chosen: task.id === chosen,
      blocked: blocked.has(task.id),
      faint: !shown.matching.has(task.id),
      entry: task.id === entry,
    },
  }));
}

export function drawnEdges(shown: Shown, chosen: number | null, blocked: ReadonlySet<number>): FlowEdge[] {
  const hit = (id: number) => id === chosen || blocked.has(id);
  return shown.edges.map(({ task_id: to, depends_on_id: from }) => {
    const blocks = blocked.has(to) && hit(from);
    const beside = to === chosen || from === chosen;
    return {
      id: `${from}-${to}`,
      source: String(from),
      target: String(to),
      className: blocks ? "graph-edge-blocked" : beside ? "graph-edge-beside" : "graph-edge",
      interactionWidth: 0, // nobody clicks an edge: no second, invisible path for each
      markerEnd: { type: MarkerType.ArrowClosed, width: 14, height: 14, color: "var(--dim)" },
    };
  });
}

function handles(direction: Direction): TaskFlowNode["handles"] {
  const size = { width: 1, height: 1 };
  return direction === "LR"
    ? [
        { type: "target", position: Position.Left, x: 0, y: HEIGHT / 2, ...size },
        { type: "source", position: Position.Right, x: WIDTH, y: HEIGHT / 2, ...size },
      ]
    : [
        { type: "target", position: Position.Top, x: WIDTH / 2, y: 0, ...size },
        { type: "source", position: Position.Bottom, x: WIDTH / 2, y: HEIGHT, ...size },
      ];
}
