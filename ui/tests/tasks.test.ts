import { describe, expect, it } from "vitest";

import { tabOf, type Task } from "../src/pages/task/about";
import { restoring } from "../src/pages/task/restoring";
import { failedShare, trendOption, type Stats } from "../src/pages/task/trend";
import { actionsFor, choiceOf, queryOf } from "../src/pages/tasks/filters";

describe("filters of tasks", () => {
  it("take what they know from the address", () => {
    expect(queryOf({ q: " a ", type: "http", enabled: "false", tab: "x", owner: "" })).toEqual({
      q: "a",
      type: "http",
      enabled: false,
    });
    expect(queryOf({ type: "nonsense", enabled: "maybe" })).toEqual({});
  });

  it("say so when everything is meant", () => {
    expect(choiceOf({})).toEqual({ all: true });
    expect(choiceOf({ q: "a" })).toEqual({ q: "a", all: false });
  });

  it("offer no change to those that are so already", () => {
    expect(actionsFor({})).toEqual(["enable", "disable", "delete"]);
    expect(actionsFor({ enabled: true })).toEqual(["disable", "delete"]);
    expect(actionsFor({ enabled: false })).toEqual(["enable", "delete"]);
  });
});

const ending = {
  instance_id: 1,
  scheduled_time: "",
  end_time: "2026-11-16T00:00:00Z",
  duration_ms: 5,
  skip_reason: null,
};
const at = "2026-11-16T00:00:00Z";

describe("the trend", () => {
  const stats: Stats = {
    task_id: 1,
    running: 0,
    pending: 0,
    planned: 0,
    more: false,
    median_ms: 5,
    p95_ms: null,
    endings: [
      { ...ending, status: "success", start_time: at },
      { ...ending, status: "failed", start_time: at },
      { ...ending, status: "cancelled", start_time: null, skip_reason: "paused" },
    ],
  };

  it("has no point for what was skipped, and no line for what is not known", () => {
    const look = { dark: false, zone: "UTC", median: "median", p95: "p95", word: String };
    const [series] = trendOption(stats, look).series as { data: unknown[]; markLine: { data: unknown[] } }[];
    expect([series?.data.length, series?.markLine.data.length]).toEqual([2, 1]);
  });

  it("counts failures among what was not skipped", () => {
    expect(failedShare(stats.endings)).toEqual({ failed: 1, ran: 2 });
  });
});

describe("restoring", () => {
  it("changes what differs, and not who manages it", () => {
    const now = { name: "a", priority: 7, tags: ["x"], managed_by: null } as unknown as Task;
    const old = { name: "a", priority: 3, tags: ["x"], managed_by: "app:b" } as unknown as Task;
    expect(restoring(old, now)).toEqual({ priority: 3 });
  });
});

describe("tabOf", () => {
  it("shows the overview for what it does not know", () => {
    expect([tabOf("audit"), tabOf("nonsense"), tabOf(undefined)]).toEqual(["audit", "overview", "overview"]);
  });
});
