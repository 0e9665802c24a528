// Where each task is drawn. Every connected part is laid out by itself, and the parts are put into shelves, since one
// row of a hundred small parts could not be seen whole. Depends on what depends on what alone: a new state moves nothing.
import { Graph, layout as dagre } from "@dagrejs/dagre";

export const WIDTH = 208;
export const HEIGHT = 46;
const GAP = 44;
/** Above this one part is put into plain layers: what is prettier would take tens of seconds. */
const PRETTY = 600;

export type Direction = "LR" | "TB";
export type Shape = { ids: readonly number[]; edges: readonly (readonly [from: number, to: number])[] };
export type Place = { x: number; y: number };
type Part = { places: Map<number, Place>; width: number; height: number };

export function place(shape: Shape, direction: Direction): Map<number, Place> {
  const parts = partsOf(shape).map((part) =>
    part.ids.length > PRETTY ? layered(part, direction) : pretty(part, direction),
  );
  return shelve(parts);
}

export function partsOf({ ids, edges }: Shape): Shape[] {
  const near = neighbours({ ids, edges });
  const of = new Map<number, number>();
  let count = 0;
  for (const start of ids) {
    if (of.has(start)) continue;
    const ahead = [start];
    of.set(start, count);
    for (let id = ahead.pop(); id !== undefined; id = ahead.pop()) {
      for (const next of near.get(id) ?? []) {
        if (of.has(next)) continue;
        of.set(next, count);
        ahead.push(next);
      }
    }
    count += 1;
  }
  const parts = Array.from({ length: count }, () => ({ ids: [] as number[], edges: [] as [number, number][] }));
  for (const id of ids) parts[of.get(id) ?? 0]?.ids.push(id);
  for (const [from, to] of edges) parts[of.get(from) ?? 0]?.edges.push([from, to]);
  // The largest first, as shelves are filled best; of equals the older.
  return parts.sort((a, b) => b.ids.length - a.ids.length);
}

export function neighbours({ ids, edges }: Shape): Map<number, number[]> {
  const near = new Map<number, number[]>(ids.map((id) => [id, []]));
  for (const [from, to] of edges) {
    near.get(from)?.push(to);
    near.get(to)?.push(from);
  }
  return near;
}

function pretty(part: Shape, direction: Direction): Part {
  const graph = new Graph();
  graph.setGraph({ rankdir: direction, nodesep: 16, ranksep: direction === "LR" ? 56 : 36 });
  graph.setDefaultEdgeLabel(() => ({}));
  for (const id of part.ids) graph.setNode(String(id), { width: WIDTH, height: HEIGHT });
  for (const [from, to] of part.edges) graph.setEdge(String(from), String(to));
  dagre(graph);
  const places = new Map<number, Place>();
  for (const id of part.ids) {
    const { x = 0, y = 0 } = graph.node(String(id)) as { x?: number; y?: number };
    places.set(id, { x: x - WIDTH / 2, y: y - HEIGHT / 2 });
  }
  return measured(places);
}

/** By the longest way from a beginning; within a layer, near the middle of what it depends on. */
function layered(part: Shape, direction: Direction): Part {
  const before = new Map<number, number[]>(part.ids.map((id) => [id, []]));
  const after = new Map<number, number[]>(part.ids.map((id) => [id, []]));
  for (const [from, to] of part.edges) {
    before.get(to)?.push(from);
    after.get(from)?.push(to);
  }
  const depth = new Map<number, number>();
  const open = new Map(part.ids.map((id) => [id, before.get(id)?.length ?? 0]));
  const ready = part.ids.filter((id) => open.get(id) === 0);
  for (let at = 0; at < ready.length; at += 1) {
    const id = ready[at] ?? 0;
    for (const next of after.get(id) ?? []) {
      depth.set(next, Math.max(depth.get(next) ?? 0, (depth.get(id) ?? 0) + 1));
      const left = (open.get(next) ?? 1) - 1;
      open.set(next, left);
      if (left === 0) ready.push(next);
    }
  }
  const layers: number[][] = [];
  for (const id of part.ids) (layers[depth.get(id) ?? 0] ??= []).push(id);
  const rank = new Map<number, number>();
  const places = new Map<number, Place>();
  layers.forEach((layer, number) => {
    const middle = (id: number) => {
      const ranks = (before.get(id) ?? []).map((one) => rank.get(one) ?? 0);
      return ranks.length === 0 ? 0 : ranks.reduce((sum, one) => sum + one, 0) / ranks.length;
    };
    const sorted = layer.map((id) => ({ id, by: middle(id) })).sort((a, b) => a.by - b.by || a.id - b.id);
    sorted.forEach(({ id }, position) => {
      rank.set(id, position / sorted.length);
      places.set(
        id,
        direction === "LR"
          ? { x: number * (WIDTH + 90), y: position * (HEIGHT + 14) }
          : { x: position * (WIDTH + 16), y: number * (HEIGHT + 60) },
      );
    });
  });
  return measured(places);
}

function measured(places: Map<number, Place>): Part {
  let [left, top, right, bottom] = [Infinity, Infinity, 0, 0];
  for (const { x, y } of places.values()) {
    left = Math.min(left, x);
    top = Math.min(top, y);
    right = Math.max(right, x + WIDTH);
    bottom = Math.max(bottom, y + HEIGHT);
  }
  const moved = new Map([...places].map(([id, { x, y }]) => [id, { x: x - left, y: y - top }]));
  return { places: moved, width: right - left, height: bottom - top };
}

function shelve(parts: readonly Part[]): Map<number, Place> {
  const area = parts.reduce((sum, part) => sum + (part.width + GAP) * (part.height + GAP), 0);
  const widest = Math.max(0, ...parts.map((part) => part.width));
  const wide = Math.max(widest, Math.sqrt(area * 1.8)); // about the shape of a window
  const all = new Map<number, Place>();
  let [x, y, high] = [0, 0, 0];
  for (const part of parts) {
    if (x > 0 && x + part.width > wide) [x, y, high] = [0, y + high + GAP, 0];
    for (const [id, at] of part.places) all.set(id, { x: x + at.x, y: y + at.y });
    x += part.width + GAP;
    high = Math.max(high, part.height);
  }
  return all;
}
