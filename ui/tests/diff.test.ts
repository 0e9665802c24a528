import { describe, expect, it } from "vitest";

import { changesBetween, lineChanges } from "../src/parts/diff";
import { missingArgs, readArgs } from "../src/parts/running";
import { longestOf, pausesOf, type Pause } from "../src/parts/pausing";

describe("changesBetween", () => {
  it("names each field that differs, also inside of others", () => {
    const before = { name: "a", payload: { url: "x", headers: { A: "1" } }, tags: ["t"], gone: 1 };
    const after = { name: "a", payload: { url: "y", headers: { A: "1" } }, tags: ["t", "u"] };
    expect(changesBetween(before, after)).toEqual([
      { path: "payload.url", before: "x", after: "y" },
      { path: "tags", before: ["t"], after: ["t", "u"] },
      { path: "gone", before: 1, after: undefined },
    ]);
  });

  it("shows what was made by its fields", () => {
    expect(changesBetween(null, { name: "a" })).toEqual([{ path: "name", before: undefined, after: "a" }]);
    expect(changesBetween({ name: "a" }, null)).toEqual([{ path: "name", before: "a", after: undefined }]);
  });

  it("tells null from what is not there", () => {
    expect(changesBetween({ a: null }, {})).toEqual([{ path: "a", before: null, after: undefined }]);
  });
});

describe("lineChanges", () => {
  it("keeps what both have", () => {
    expect(lineChanges("one\ntwo\nthree", "one\n2\nthree")).toEqual([
      { mark: " ", text: "one" },
      { mark: "-", text: "two" },
      { mark: "+", text: "2" },
      { mark: " ", text: "three" },
    ]);
  });

  it("leaves single lines alone", () => {
    expect(lineChanges("one", "two")).toBeNull();
  });
});

describe("readArgs", () => {
  it("takes an object, nothing, and nothing else", () => {
    expect(readArgs('{"day": 1}')).toEqual({ args: { day: 1 } });
    expect(readArgs("  ")).toEqual({ args: null });
    expect(readArgs("[1]")).toMatchObject({ fault: "object" });
    expect(readArgs("{day")).toMatchObject({ fault: "syntax" });
  });

  it("knows what is still needed", () => {
    expect(missingArgs({ required: ["order", "copies"] }, { order: 0 })).toEqual(["copies"]);
  });
});

describe("pausesOf", () => {
  const pause = (given: Partial<Pause>): Pause => ({
    id: 1,
    scope: "all",
    task_id: null,
    task_name: null,
    group: null,
    reason: "",
    owner: "",
    created_at: "2026-11-16T00:00:00Z",
    until: null,
    ...given,
  });

  it("are the task's, its group's and that of everything", () => {
    const all = [
      pause({ id: 1 }),
      pause({ id: 2, scope: "group", group: "shop" }),
      pause({ id: 3, scope: "group", group: "other" }),
      pause({ id: 4, scope: "task", task_id: 7, group: "shop" }),
      pause({ id: 5, scope: "task", task_id: 8, group: "shop" }),
    ];
    expect(pausesOf({ id: 7, group: "shop" }, all).map(({ id }) => id)).toEqual([1, 2, 4]);
  });

  it("end with the last of them", () => {
    const [short, long] = [
      pause({ id: 1, until: "2026-11-16T01:00:00Z" }),
      pause({ id: 2, until: "2026-11-17T00:00:00Z" }),
    ];
    expect(longestOf([short, long])?.id).toBe(2);
    expect(longestOf([long, pause({ id: 3 }), short])?.id).toBe(3);
    expect(longestOf([])).toBeNull();
  });
});
