import { describe, expect, it } from "vitest";

import { fewOfEach } from "../src/pages/overview/few";

describe("failures", () => {
  it("of one task are a few, then a word of how many more, so that others are seen", () => {
    const failed = (task_id: number, id: number) => ({ task_id, id });
    const flood = Array.from({ length: 20 }, (_, number) => failed(1, 100 - number));
    const told = fewOfEach([...flood, failed(2, 7), failed(3, 6)], 3, 10).map((few) =>
      "one" in few ? few.one.id : `${few.more} more of ${few.task.task_id}`,
    );
    expect(told).toEqual([100, 99, 98, "17 more of 1", 7, 6]);
  });

  it("are no more rows than there is room for, and nothing is said of none", () => {
    expect(
      fewOfEach(
        [1, 1, 1, 2, 3].map((task_id) => ({ task_id })),
        3,
        4,
      ),
    ).toHaveLength(4);
    expect(fewOfEach([{ task_id: 1 }], 3, 10)).toEqual([{ one: { task_id: 1 } }]);
  });
});
