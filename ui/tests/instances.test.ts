import { describe, expect, it } from "vitest";

import { Refusal } from "../src/api/refusal";
import { COLUMNS, layoutOf, shownIn } from "../src/pages/instances/columns";
import {
  append,
  begin,
  between,
  forget,
  newIn,
  refill,
  remembered,
  renew,
  rowAt,
  sizeOf,
  update,
  type Answered,
  type Feed,
  type Instance,
} from "../src/pages/instances/feed";
import { Feeding } from "../src/pages/instances/feeding";
import { canCancel, canRetry, choiceOf, examplesOf, suits, wantedBy } from "../src/pages/instances/wanted";

function living(id: number): Instance {
  return { id, status: "running", end_time: null, log_id: null, cancel_requested: false } as Instance;
}
function ended(id: number, minute = id): Instance {
  const end_time = new Date(Date.UTC(2026, 0, 1, 0, minute)).toISOString();
  return { id, status: "failed", end_time, log_id: id, skip_reason: null } as Instance;
}
const down = (from: number, count: number) => Array.from({ length: count }, (_, number) => ended(from - number));
const page = (items: Instance[], next_cursor: string | null = null): Answered => ({ items, next_cursor });
const ids = (feed: Feed) => feed.stretches.flatMap((one) => one.ids);

describe("a feed", () => {
  it("grows page by page, and tells what ended meanwhile only once", () => {
    const feed = append(begin(page([living(9), ended(5)], "a")), page([ended(9, 4), ended(3)], "b"));
    expect([ids(feed), feed.next, sizeOf(feed)]).toEqual([[9, 5, 3], "b", 3]);
    expect(append(feed, page([], "c"))).toEqual({ ...feed, next: "c" });
  });

  it("forgets what is farthest from the window, but not its length, and can be refilled", () => {
    let feed = begin(page(down(1_000, 100), "c1"));
    for (let turn = 1; turn < 5; turn++) feed = append(feed, page(down(1_000 - 100 * turn, 100), `c${turn + 1}`));
    const less = forget(feed, 410, 440, 250);
    expect(less.stretches.map((one) => one.rows?.length)).toEqual([undefined, undefined, undefined, 100, 100]);
    expect([sizeOf(less), remembered(less)]).toEqual([500, 200]);
    expect(rowAt(less, 150)).toEqual({ id: 850, row: null });
    expect(between(less, 100, 199)).toEqual([1]);
    expect(less.stretches[1]?.cursor).toBe("c1");
    const full = refill(less, 1, page(down(900, 100), "c2"));
    expect([rowAt(full, 150)?.row?.id, rowAt(full, 500), remembered(full)]).toEqual([850, null, 300]);
    expect(forget(feed, 0, 30)).toBe(feed);
  });

  it("shows rows as they are now without moving any, and counts those that are new", () => {
    const feed = begin(page([living(9), ended(5)]));
    const head = page([living(10), ended(9)]);
    expect(ids(update(feed, head.items))).toEqual([9, 5]);
    expect(rowAt(update(feed, head.items), 0)?.row?.status).toBe("failed");
    expect(newIn(feed, head)).toBe(1);
    expect(update(feed, [living(77)])).toBe(feed);
  });

  it("is renewed by a full page, and keeps what was looked for behind a short one", () => {
    const feed = append(begin(page([living(9), ended(5)], "a")), page([ended(3)], "b"));
    expect(ids(renew(feed, page([living(10), living(9)], "z"), 2))).toEqual([10, 9]);
    expect(ids(renew(feed, page([]), 2))).toEqual([]);
    const renewed = renew(feed, page([living(10), ended(9), ended(5)], "z"), 50);
    expect([ids(renewed), renewed.next]).toEqual([[10, 9, 5, 3], "b"]);
    expect(ids(renew(feed, page([], "z"), 50))).toEqual([9, 5, 3]);
    expect(ids(renew(feed, page([ended(4)], "z"), 50))).toEqual([4, 3]);
  });
});

describe("feeding", () => {
  const settled = (feeding: Feeding) =>
    new Promise<void>((resolve) => {
      let began = false;
      const leave = feeding.state.subscribe(() => {
        const { looking } = feeding.state.get();
        began ||= looking;
        if (looking || !began) return;
        leave();
        resolve();
      });
    });

  it("goes on through short and empty pages until the window is full", async () => {
    const asked: (string | null)[] = [];
    const pages: Record<string, Answered> = {
      a: page([], "b"),
      b: page([ended(80)], "c"),
      c: page(down(70, 60), "d"),
    };
    const feeding = new Feeding((cursor) => {
      asked.push(cursor);
      return Promise.resolve(pages[cursor ?? ""] ?? page([]));
    });
    const over = settled(feeding);
    feeding.take(page([ended(90)], "a"), 40, false);
    feeding.look(0, 20);
    await over;
    expect(asked).toEqual(["a", "b", "c"]);
    expect(feeding.state.get().feed && sizeOf(feeding.state.get().feed as Feed)).toBe(62);
  });

  it("asks whether to go on after a hundred pages without a row", async () => {
    let count = 0;
    const feeding = new Feeding(() => Promise.resolve(page([], String(++count))));
    const over = settled(feeding);
    feeding.take(page([], "0"), 40, false);
    await over;
    expect([count, feeding.state.get().resting]).toEqual([100, true]);
    const again = settled(feeding);
    feeding.goOn();
    expect(feeding.state.get().resting).toBe(false);
    await again;
    expect(count).toBe(200);
  });

  it("holds still while somebody reads, and shows the newest when told to", () => {
    const feeding = new Feeding(() => Promise.resolve(page([])));
    feeding.take(page([living(5), ended(3)]), 40, false);
    feeding.take(page([living(7), living(6), ended(5)]), 40, true);
    expect(ids(feeding.state.get().feed as Feed)).toEqual([5, 3]);
    expect(feeding.state.get().news).toEqual({ count: 2, all: false });
    feeding.release();
    expect(ids(feeding.state.get().feed as Feed)).toEqual([7, 6, 5]);
    expect(feeding.state.get().news.count).toBe(0);
  });

  it("tells what was refused, and tries again when told to", async () => {
    let away = true;
    const feeding = new Feeding(() =>
      away ? Promise.reject(Refusal.unreachable()) : Promise.resolve(page([ended(1)])),
    );
    const over = settled(feeding);
    feeding.take(page([ended(3)], "a"), 40, false);
    await over;
    expect(feeding.state.get().refusal?.status).toBe(0);
    away = false;
    const again = settled(feeding);
    feeding.goOn();
    await again;
    expect([feeding.state.get().refusal, ids(feeding.state.get().feed as Feed)]).toEqual([null, [3, 1]]);
  });
});

describe("what the address asks for", () => {
  it("is sent only where it is set and could be", () => {
    const now = Date.UTC(2026, 0, 2, 0, 0, 30);
    expect(wantedBy({ status: "failed", q: "x", task_id: "7", from: "-24h", columns: "a" }, now)).toEqual({
      status: "failed",
      q: "x",
      task_id: 7,
      from: "2026-01-01T00:00:00.000Z",
    });
    expect(wantedBy({ status: "nonsense", task_id: "-1", from: "soon", q: "" }, now)).toEqual({});
  });

  it("must say so when it means everything", () => {
    expect(choiceOf({})).toEqual({ all: true });
    expect(choiceOf({ q: "x" })).toEqual({ q: "x" });
  });

  it("decides what can be done to all of it", () => {
    expect([suits("retry", {}), suits("retry", { status: "running" })]).toEqual([true, false]);
    expect([suits("cancel", {}), suits("cancel", { error: "x" })]).toEqual([true, false]);
    expect(examplesOf("retry", {})).toEqual({ status: "failed" });
    expect([canRetry(ended(1)), canCancel(ended(1)), canRetry(living(1)), canCancel(living(1))]).toEqual([
      true,
      false,
      false,
      true,
    ]);
  });
});

describe("columns", () => {
  it("leave by their importance until the rest fits", () => {
    expect(shownIn(5_000, null)).toEqual(COLUMNS);
    expect(shownIn(900, null).map((one) => one.name)).toEqual(
      expect.arrayContaining(["status", "id", "task", "message", "ended"]),
    );
    expect(shownIn(900, null).some((one) => one.name === "priority")).toBe(false);
    expect(shownIn(10, null).map((one) => one.name)).toEqual(["status", "id", "task", "message"]);
  });

  it("stay as somebody chose them", () => {
    expect(shownIn(10, ["priority"]).map((one) => one.name)).toEqual(["status", "id", "task", "message", "priority"]);
    expect(layoutOf(shownIn(10, []), false).template).toBe("98px 74px minmax(150px, 2fr) minmax(240px, 5fr)");
  });
});
