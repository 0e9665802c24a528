import { describe, expect, it } from "vitest";

import { tabOf, type Task } from "../src/pages/task/about";
import { restoring } from "../src/pages/task/restoring";
import { failedShare, trendOption, type Stats } from "../src/pages/task/trend";
import { actionsFor, choiceOf, queryOf } from "../src/pages/tasks/filters";
import { gathered, pagesOf } from "../src/pages/tasks/lately";
import { begun, gave, told, wantedOf } from "../src/parts/typing";

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

describe("how tasks fared lately", () => {
  const of = (id: number): Stats => ({
    task_id: id,
    endings: [],
    running: 0,
    pending: 0,
    planned: 0,
    more: false,
    median_ms: id,
    p95_ms: null,
  });
  const answer = (ids: readonly number[], isPlaceholderData = false) => ({
    data: { items: ids.map(of) },
    isPlaceholderData,
    isError: false,
  });
  const ids = Array.from({ length: 230 }, (_, number) => number + 1);
  const pages = pagesOf(ids);

  it("is asked page by page, so that one more page changes nothing before it", () => {
    expect(pages.map((page) => page.length)).toEqual([50, 50, 50, 50, 30]);
    expect(pagesOf([...ids, 231]).slice(0, 4)).toEqual(pages.slice(0, 4));
    expect(pagesOf([])).toEqual([]);
  });

  it("is known of every task that is loaded, the first as well as the last", () => {
    const found = gathered(
      pages,
      pages.map((page) => answer(page)),
    );
    expect([found.size, found.get(1)?.median_ms, found.get(230)?.median_ms]).toEqual([230, 1, 230]);
  });

  it("tells what is on its way from what has nothing to tell", () => {
    const away = { isPlaceholderData: false, isError: false };
    const found = gathered([[1, 2], [3], [4]], [answer([1]), away, { ...away, isError: true }]);
    expect([found.get(1)?.median_ms, found.get(2), found.get(3), found.get(4)]).toEqual([1, null, undefined, null]);
    const meanwhile = gathered([[1, 5]], [answer([1, 2], true)]);
    expect([meanwhile.get(1)?.median_ms, meanwhile.get(5)]).toEqual([1, undefined]);
  });
});

describe("a text that is searched for", () => {
  it("keeps what is typed while its echo is under way", () => {
    let typing = { ...begun(""), text: "dai" };
    expect(wantedOf(typing)).toBe("dai");
    typing = { ...gave(typing, "dai"), text: "daily " };
    expect(wantedOf(gave(typing, "daily"))).toBe(null); // told already
    typing = told(typing, "dai");
    expect([typing.text, wantedOf(typing)]).toEqual(["daily ", "daily"]);
    typing = told(gave(typing, "daily"), "daily");
    expect([typing.text, wantedOf(typing)]).toEqual(["daily ", null]);
  });

  it("takes what somebody else says, and what was typed is over", () => {
    const typing = told(gave({ ...begun("a"), text: "ab" }, "ab"), "");
    expect([typing.text, wantedOf(typing)]).toEqual(["", null]);
  });

  it("is told again when it was changed back while under way", () => {
    const typing = told({ ...gave({ ...begun("a"), text: "ab" }, "ab"), text: "a" }, "ab");
    expect(wantedOf(typing)).toBe("a");
  });
});
