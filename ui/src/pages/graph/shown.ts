// Which tasks are drawn: those that match, with their neighbours, and no more than a browser draws smoothly.
import type { components } from "../../api/schema";
import { neighbours, type Place, type Shape } from "./layout";

export type Node = components["schemas"]["GraphNode"];
export type Edge = components["schemas"]["GraphEdge"];
export const MOST = 1_000;

export type Shown = { nodes: Node[]; edges: Edge[]; matching: Set<number>; left: number };

/**
 * The same, again and again while states change. Which of too many are drawn is decided by their states only when
 * something else is looked for: else every failure would have all of it laid out anew.
 */
export function steadily(
  most = MOST,
): (nodes: readonly Node[], edges: readonly Edge[], q: string, view: string) => Shown {
  let kept: { view: string; ids: readonly number[] } | null = null;
  return (nodes, edges, q, view) => {
    const shown = shownOf(nodes, edges, q, most, kept?.view === view ? kept.ids : []);
    kept = { view, ids: shown.nodes.map(({ id }) => id) };
    return shown;
  };
}

/** `first`: those that are drawn before others, if not all are. */
export function shownOf(
  nodes: readonly Node[],
  edges: readonly Edge[],
  q: string,
  most = MOST,
  first: readonly number[] = [],
): Shown {
  const needle = q.trim().toLowerCase();
  const matching = new Set(nodes.filter((node) => node.name.toLowerCase().includes(needle)).map((node) => node.id));
  const near = neighbours(shapeOf(nodes, edges));
  const wanted = needle ? new Set([...matching].flatMap((id) => [id, ...(near.get(id) ?? [])])) : matching;
  const kept = wanted.size > most ? nearest(nodes, near, wanted, most, first) : wanted;
  return {
    nodes: nodes.filter((node) => kept.has(node.id)),
    edges: edges.filter((edge) => kept.has(edge.task_id) && kept.has(edge.depends_on_id)),
    matching,
    left: wanted.size - kept.size,
  };
}

/** What failed or runs, and what is connected with it, before the rest. */
function nearest(
  nodes: readonly Node[],
  near: Map<number, number[]>,
  wanted: Set<number>,
  most: number,
  first: readonly number[],
): Set<number> {
  const urgent = [...nodes].sort((a, b) => urgency(b) - urgency(a) || a.id - b.id);
  const kept = new Set(first.filter((id) => wanted.has(id)).slice(0, most));
  const ahead: number[] = [];
  for (const node of urgent) {
    ahead.push(node.id);
    for (let id = ahead.shift(); id !== undefined; id = ahead.shift()) {
      if (kept.has(id) || !wanted.has(id)) continue;
      if (kept.size >= most) return kept;
      kept.add(id);
      ahead.push(...(near.get(id) ?? []));
    }
  }
  return kept;
}

function urgency(node: Node): number {
  if (node.last_outcome === "failed") return 3;
  if (node.running) return 2;
  return node.waiting > 0 ? 1 : 0;
}

export function shapeOf(nodes: readonly Node[], edges: readonly Edge[]): Shape {
  return { ids: nodes.map((node) => node.id), edges: edges.map((edge) => [edge.depends_on_id, edge.task_id] as const) };
}

export type State = "running" | "success" | "failed" | "cancelled" | "waiting" | "never";

/** What matters most about it now. */
export function stateOf(node: Node): State {
  if (node.running) return "running";
  if (node.waiting > 0 && node.last_outcome !== "failed") return "waiting";
  switch (node.last_outcome) {
    case "success":
    case "failed":
    case "cancelled":
      return node.last_outcome;
    default:
      return "never";
  }
}

/** The nearest task in the direction of an arrow key, or none. */
export function towards(from: number, key: string, places: ReadonlyMap<number, Place>): number | null {
  const here = places.get(from);
  if (here === undefined) return null;
  let best: { id: number; far: number } | null = null;
  for (const [id, at] of places) {
    const [x, y] = [at.x - here.x, at.y - here.y];
    const [ahead, aside] =
      key === "ArrowRight" ? [x, y] : key === "ArrowLeft" ? [-x, y] : key === "ArrowDown" ? [y, x] : [-y, x];
    if (id === from || ahead <= 1) continue;
    const far = ahead + 2.5 * Math.abs(aside);
    if (best === null || far < best.far) best = { id, far };
  }
  return best?.id ?? null;
}
