import { describe, expect, it } from "vitest";

import { HEIGHT, partsOf, place, WIDTH } from "../src/pages/graph/layout";
import { shapeOf, shownOf, stateOf, steadily, towards, type Edge, type Node } from "../src/pages/graph/shown";

function node(id: number, more: Partial<Node> = {}): Node {
  return {
    id,
    name: `task-${id}`,
    group: "default",
    type: "python",
    schedule: "@manual",
    enabled: true,
    running: false,
    last_outcome: null,
    last_time: null,
    instance_id: null,
    waiting: 0,
    paused: false,
    ...more,
  };
}
const edge = (from: number, to: number): Edge => ({ depends_on_id: from, task_id: to });

describe("places", () => {
  it("put what depends to the right of what it depends on, and nothing upon another", () => {
    const shape = {
      ids: [1, 2, 3, 4, 5],
      edges: [
        [1, 2],
        [1, 3],
        [2, 4],
        [3, 4],
      ] as [number, number][],
    };
    const places = [...place(shape, "LR")];
    const at = new Map(places);
    for (const [from, to] of shape.edges) expect(at.get(to)?.x).toBeGreaterThan((at.get(from)?.x ?? 0) + WIDTH);
    for (const [id, one] of places) {
      const upon = places.filter(
        ([other, { x, y }]) => other !== id && Math.abs(x - one.x) < WIDTH && Math.abs(y - one.y) < HEIGHT,
      );
      expect(upon).toEqual([]);
    }
  });

  it("are found for thousands in one part within layers", () => {
    const ids = Array.from({ length: 3_000 }, (_, number) => number + 1);
    const edges = ids.slice(1).map((id) => [Math.floor(id / 3) + 1, id] as [number, number]);
    const places = place({ ids, edges: edges.filter(([from, to]) => from !== to) }, "TB");
    expect(places.size).toBe(3_000);
    expect(new Set([...places.values()].map(({ x, y }) => `${x} ${y}`)).size).toBe(3_000);
  });

  it("keep unconnected parts apart, the largest first", () => {
    const parts = partsOf({
      ids: [1, 2, 3, 4, 5],
      edges: [
        [1, 2],
        [3, 4],
        [4, 5],
      ],
    });
    expect(parts.map((part) => part.ids)).toEqual([
      [3, 4, 5],
      [1, 2],
    ]);
  });
});

describe("what is shown", () => {
  it("is what matches, and its neighbours faintly", () => {
    const nodes = [node(1), node(2, { name: "books" }), node(3), node(4)];
    const shown = shownOf(nodes, [edge(1, 2), edge(2, 3), edge(3, 4)], "BOOK");
    expect(shown.nodes.map((one) => one.id)).toEqual([1, 2, 3]);
    expect([...shown.matching]).toEqual([2]);
    expect(shown.edges).toHaveLength(2);
  });

  it("is bounded, with what failed and what is near it first", () => {
    const nodes = [node(1), node(2), node(3), node(4, { last_outcome: "failed" }), node(5)];
    const shown = shownOf(nodes, [edge(1, 2), edge(4, 5)], "", 3);
    expect(shown.nodes.map((one) => one.id)).toEqual([1, 4, 5]);
    expect(shown.left).toBe(2);
    expect(shapeOf(shown.nodes, shown.edges).edges).toEqual([[4, 5]]);
  });

  it("tells first what matters most now", () => {
    expect(stateOf(node(1, { running: true, last_outcome: "failed" }))).toBe("running");
    expect(stateOf(node(1, { waiting: 2, last_outcome: "failed" }))).toBe("failed");
    expect(stateOf(node(1, { waiting: 2, last_outcome: "success" }))).toBe("waiting");
    expect(stateOf(node(1))).toBe("never");
  });

  it("is gone through by arrow keys", () => {
    const places = new Map([
      [1, { x: 0, y: 0 }],
      [2, { x: 300, y: -40 }],
      [3, { x: 300, y: 40 }],
      [4, { x: 0, y: 400 }],
    ]);
    expect(towards(2, "ArrowLeft", places)).toBe(1);
    expect(towards(2, "ArrowDown", places)).toBe(3);
    expect(towards(1, "ArrowDown", places)).toBe(4);
    expect(towards(1, "ArrowLeft", places)).toBeNull();
  });
});

describe("what is drawn of too many", () => {
  const ids = [1, 2, 3, 4, 5, 6];
  const of = (...failed: number[]) =>
    ids.map((id) => node(id, { last_outcome: failed.includes(id) ? "failed" : "success" }));
  const drawn = (shown: { nodes: Node[] }) => shown.nodes.map(({ id }) => id);

  it("stays the same while states change, and is chosen anew when something else is looked for", () => {
    const shownOf = steadily(3);
    expect(drawn(shownOf(of(5), [], "", "all"))).toEqual([1, 2, 5]);
    expect(drawn(shownOf(of(6), [], "", "all"))).toEqual([1, 2, 5]);
    expect(drawn(shownOf(of(6), [], "", "other"))).toEqual([1, 2, 6]);
  });

  it("is made up from the others when one of them goes", () => {
    const shownOf = steadily(3);
    shownOf(of(5), [], "", "all");
    expect(
      drawn(
        shownOf(
          of(6).filter(({ id }) => id !== 5),
          [],
          "",
          "all",
        ),
      ),
    ).toEqual([1, 2, 6]);
  });
});
