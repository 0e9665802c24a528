import { describe, expect, it } from "vitest";

import { afterOf, bodyOf, changes, clashes, DEFAULTS, joined, same, type Draft } from "../src/pages/editor/draft";
import { beginning, formOf, partsOf, wallOf, withPart, withSeconds } from "../src/pages/editor/schedule";
import { changedIn, storyOf } from "../src/pages/editor/story";
import { inWords } from "../src/pages/editor/words";

const draft = (change: Partial<Draft>): Draft => ({ ...DEFAULTS, ...change });
const words = (change: Partial<Draft>) =>
  storyOf(draft(change), { when: "daily", next: null, upstream: ["a"] }).map(({ word }) => word);

describe("a schedule", () => {
  it.each([
    ["@every 30s", "every"],
    ["@AT 2027-01-01T09:00", "at"],
    ["@manual", "manual"],
    ["@daily", "cron"],
    ["0 2 * * *", "cron"],
    ["nonsense", "cron"],
  ])("%s is of the form %s", (schedule, form) => {
    expect(formOf(schedule)).toBe(form);
  });

  it("is taken apart and put together field by field", () => {
    expect(partsOf("@weekly")).toMatchObject({ minute: "0", weekday: "0" });
    expect(partsOf("1 2 3")).toBeNull();
    expect(withPart("0 2 * * *", "hour", " 4 ")).toBe("0 4 * * *");
    expect(withPart("0 2 * * *", "hour", "")).toBe("0 * * * *");
    expect(withPart("0 0 2 ? * MON", "year", "2027")).toBe("0 0 2 ? * MON 2027");
  });

  it.each([
    ["0 2 * * *", "0 0 2 * * ?"],
    ["0 2 * * MON-FRI", "0 0 2 ? * MON-FRI"],
    ["0 2 * * 1-5", "0 0 2 ? * 2-6"],
    ["0 2 15 * *", "0 0 2 15 * ?"],
  ])("%s with seconds is %s, and back", (five, six) => {
    expect(withSeconds(five, true)).toBe(six);
    expect(withSeconds(six, false)).toBe(five);
  });

  it("counts Sunday from 0 with five fields and from 1 with six", () => {
    expect(withSeconds("0 2 * * 7", true)).toBe("0 0 2 ? * 1");
    expect(inWords("0 2 * * 1", "en")).toContain("Monday");
    expect(inWords("0 0 2 ? * 2", "en")).toContain("Monday");
    expect(inWords("0 9 * * MON-FRI", "zh")).toContain("星期一至星期五");
    expect(inWords("x", "en")).toBeNull();
  });

  it("keeps its length when an interval becomes a delay", () => {
    expect(beginning("after", "@every 5m", "")).toBe("@after 5m");
    expect(beginning("cron", "@every 5m", "")).toBe("0 2 * * *");
  });
});

describe("a moment", () => {
  it.each([
    ["@at 2026-03-29T02:30", "2026-03-29T02:30"], // which a browser in Berlin does not have
    ["@at 2026-03-29 02:30:15", "2026-03-29T02:30:15"],
    ["@at 2026-11-16T01:00:00Z", "2026-11-16T09:00:00"],
    ["@at 2026-11-16T01:00:00+01:00", "2026-11-16T08:00:00"],
    ["@at soon", ""],
    ["@at", ""],
  ])("of %s is %s on the task's clock", (schedule, wall) => {
    expect(wallOf(schedule, "Asia/Shanghai")).toBe(wall);
  });
});

describe("a task that runs after others", () => {
  it("is told to have none yet, until one is chosen", () => {
    expect(words({ schedule: "@upstream" })[0]).toBe("upstreamNone");
    expect(words({ schedule: "@upstream", dependency_ids: [1] })[0]).toBe("upstream");
  });

  it("begins in the group and by the clock of the one it runs after", () => {
    const task = { ...DEFAULTS, id: 7, group: "books", timezone: "Asia/Shanghai" } as never;
    expect(afterOf(task)).toEqual(
      draft({ group: "books", timezone: "Asia/Shanghai", schedule: "@upstream", dependency_ids: [7] }),
    );
  });
});

describe("a draft", () => {
  it("sends what is not as by default, and of an edit what was changed", () => {
    expect(bodyOf(draft({ name: "a", priority: 2 }))).toEqual({ name: "a", type: "command", payload: {}, priority: 2 });
    expect(changes(draft({ name: "a" }), draft({ name: "a", owner: "Ada" }))).toEqual({ owner: "Ada" });
  });

  it("is the same whatever the order of its keys, not of its lists", () => {
    expect(same({ a: 1, b: [1, 2] }, { b: [1, 2], a: 1 })).toBe(true);
    expect(same([1, 2], [2, 1])).toBe(false);
  });

  it("joins two edits, and names what both have changed", () => {
    const base = draft({ description: "first" });
    const theirs = draft({ description: "theirs", owner: "Ada" });
    const mine = draft({ description: "mine", priority: 2 });
    const found = clashes(base, theirs, mine);
    expect(found.filter((one) => one.both).map((one) => one.name)).toEqual(["description"]);
    expect(joined(theirs, mine, ["priority"])).toMatchObject({ description: "theirs", owner: "Ada", priority: 2 });
  });

  it("says what will happen", () => {
    expect(words({})).toEqual(["manual", "where", "noRetry"]);
    expect(words({ enabled: false, schedule: "0 2 * * *" })[0]).toBe("disabled");
    expect(words({ schedule: "0 2 * * *", dependency_ids: [1], max_retries: 2 })).toEqual([
      "when",
      "afterOne",
      "upstream_wait",
      "where",
      "retry",
      "overlap_skip",
    ]);
    expect(changedIn("retries", draft({ max_retries: 2, owner: "Ada" }))).toEqual(["max_retries"]);
  });
});
