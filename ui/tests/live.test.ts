// What events cause: what they name is fetched again, at a pace the server can bear, and no answer is cut off.
import { QueryClient, QueryObserver } from "@tanstack/react-query";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { refresher } from "../src/api/live";
import { concerns, note, paceOf, type Changed } from "../src/api/topics";

function told(topic: string, ...events: string[]): Changed {
  const changed: Changed = new Map();
  for (const data of events) note(changed, topic, data);
  return changed;
}

const ONE = (path: string, name: string, id: number) => [path, { path: { [name]: id } }];

describe("an event", () => {
  it("concerns the one instance it names, and no other", () => {
    const changed = told("instances", '{"ids":[7]}', '{"ids":[8]}');
    expect(concerns(changed, ONE("/api/v1/instances/{instance_id}/attempts", "instance_id", 7))).toBe(true);
    expect(concerns(changed, ONE("/api/v1/instances/{instance_id}", "instance_id", 8))).toBe(true);
    expect(concerns(changed, ONE("/api/v1/instances/{instance_id}", "instance_id", 9))).toBe(false);
  });

  it("concerns all of its kind when it names none, whatever was named before and after", () => {
    const key = ONE("/api/v1/tasks/{task_id}", "task_id", 9);
    expect(concerns(told("tasks", '{"ids":[7]}', "{}", '{"ids":[8]}'), key)).toBe(true);
    expect(concerns(told("tasks", "not JSON"), key)).toBe(true);
  });

  it("concerns every list and figure of the kind, and nothing else", () => {
    const changed = told("instances", '{"ids":[7]}');
    expect(concerns(changed, ["/api/v1/instances", { query: { status: "failed" } }])).toBe(true);
    expect(concerns(changed, ["/api/v1/instances", { q: "x" }, "paged", undefined])).toBe(true);
    expect(concerns(changed, ["/api/v1/stats/overview", {}])).toBe(true);
    expect(concerns(changed, ["/api/v1/alerts", {}])).toBe(false);
    expect(concerns(changed, ["me"])).toBe(false);
  });
});

it("lets what is dear to compute, and what was read in many pages, be asked for less often", () => {
  expect(paceOf(["/api/v1/stats/tasks", {}])).toBeGreaterThan(paceOf(["/api/v1/stats/overview", {}]));
  expect(paceOf(["/api/v1/instances", {}], 40)).toBe(40 * paceOf(["/api/v1/instances", {}]));
});

describe("the refresher", () => {
  let queries: QueryClient;
  let hidden: boolean;
  let page: EventTarget;

  beforeEach(() => {
    vi.useFakeTimers();
    queries = new QueryClient();
    hidden = false;
    page = new EventTarget();
    Object.defineProperty(page, "hidden", { get: () => hidden });
    vi.stubGlobal("document", page);
  });
  afterEach(() => {
    queries.clear();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  /** Something that is shown, and how often it was fetched; each answer takes so long. */
  function shown(path: string, takes = 0) {
    const asked = { begun: 0, here: 0 };
    const observer = new QueryObserver(queries, {
      queryKey: [path, {}],
      queryFn: async () => {
        asked.begun += 1;
        await new Promise((wake) => setTimeout(wake, takes));
        return (asked.here += 1);
      },
    });
    observer.subscribe(() => undefined);
    return asked;
  }

  it("fetches a list again at most about once a second, however many events come", async () => {
    const list = shown("/api/v1/instances");
    await vi.advanceTimersByTimeAsync(5_000);
    const refresh = refresher(queries);
    for (let round = 0; round < 40; round += 1) {
      refresh.note("instances", '{"ids":[1]}');
      await vi.advanceTimersByTimeAsync(250);
    }
    expect(list.here).toBeGreaterThan(5);
    expect(list.here).toBeLessThanOrEqual(11);
  });

  it("never cuts an answer off, and asks once more for what may be older than the change", async () => {
    const slow = shown("/api/v1/instances", 3_000);
    await vi.advanceTimersByTimeAsync(3_000);
    const refresh = refresher(queries);
    for (let round = 0; round < 36; round += 1) {
      refresh.note("instances", "{}");
      await vi.advanceTimersByTimeAsync(250);
    }
    expect(slow.begun - slow.here).toBeLessThanOrEqual(1);
    expect(slow.here).toBeGreaterThanOrEqual(3);
    const before = slow.here;
    refresh.note("instances", "{}");
    await vi.advanceTimersByTimeAsync(12_000);
    expect(slow.here).toBeGreaterThan(before);
  });

  it("asks for figures seldom, but does not forget them", async () => {
    const figures = shown("/api/v1/stats/tasks");
    await vi.advanceTimersByTimeAsync(100);
    const refresh = refresher(queries);
    refresh.note("instances", '{"ids":[1]}');
    await vi.advanceTimersByTimeAsync(2_000);
    expect(figures.here).toBe(1);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(figures.here).toBe(2);
  });

  it("asks no more often for figures that the server fails to give", async () => {
    let asked = 0;
    const observer = new QueryObserver(queries, {
      queryKey: ["/api/v1/stats/tasks", {}],
      queryFn: () => Promise.reject(new Error(`away ${(asked += 1)}`)),
      retry: false,
    });
    observer.subscribe(() => undefined);
    await vi.advanceTimersByTimeAsync(100);
    const refresh = refresher(queries);
    for (let round = 0; round < 12; round += 1) {
      refresh.note("instances", "{}");
      await vi.advanceTimersByTimeAsync(1_000);
    }
    expect(asked).toBeGreaterThan(1);
    expect(asked).toBeLessThanOrEqual(4);
  });

  it("asks nothing while the page is hidden, and at once when it is seen again", async () => {
    const list = shown("/api/v1/instances");
    await vi.advanceTimersByTimeAsync(2_000);
    const refresh = refresher(queries);
    hidden = true;
    refresh.note("instances", "{}");
    await vi.advanceTimersByTimeAsync(10_000);
    expect(list.here).toBe(1);
    hidden = false;
    page.dispatchEvent(new Event("visibilitychange"));
    await vi.advanceTimersByTimeAsync(10);
    expect(list.here).toBe(2);
  });
});
