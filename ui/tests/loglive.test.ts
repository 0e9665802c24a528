// A log while it is written and searched: no line is lost or told twice, and a search says how far it looked.
import { describe, expect, it } from "vitest";

import { Refusal } from "../src/api/refusal";
import { chosenRows, clicked, stepped } from "../src/pages/instance/log/choosing";
import { readUpTo } from "../src/pages/instance/log/copying";
import { findThere, rowOf } from "../src/pages/instance/log/finding";
import { askPlace, ownEnd } from "../src/pages/instance/log/place";
import { OF_ONE_ATTEMPT, rowsOf, type Chunk } from "../src/pages/instance/log/rows";
import type { Ask } from "../src/pages/instance/log/source";
import { LogWindow } from "../src/pages/instance/log/window";

const FIRST = OF_ONE_ATTEMPT;
const CALLED = FIRST + 2 ** 31;
const ALL = { only: "all", fence: null } as const;
const ERRORS = { only: "errors", fence: null } as const;

function chunk(seq: number, message: string, level = "info"): Chunk {
  return { seq, message, level, logged_at: "2026-11-16T04:00:00Z", phase: null, stream: null, exception: null };
}

const many = (count: number, from = FIRST + 1) =>
  Array.from({ length: count }, (_, at) => chunk(from + at, `line ${from + at - FIRST - 1}`));

/** A log that writes some more after each answer. */
function writing(lines: Chunk[], ...later: Chunk[]): Ask {
  return (_instance, { after = -1, before, limit, level }) => {
    const within = lines.filter((one) => one.seq > after && (before === undefined || one.seq < before));
    const fitting = within.filter((one) => level === undefined || one.level === level);
    const items = before === undefined ? fitting.slice(0, limit) : fitting.slice(-limit);
    const answer = {
      items,
      next_after: items.at(-1)?.seq ?? after,
      next_before: items[0]?.seq ?? null,
      more: items.length === limit,
    };
    const next = later.shift();
    if (next !== undefined) lines.push(next);
    lines.sort((one, other) => one.seq - other.seq);
    return Promise.resolve(answer);
  };
}

/** What the server's stream sends to who is at a place. */
function since(lines: readonly Chunk[], place: string | null): Chunk[] {
  const [own = -1, called = own] = (place ?? "-1").split(":").map(Number);
  return lines.filter(({ seq }) => seq > (seq >= CALLED ? called : own));
}

describe("a log that is written while it opens", () => {
  const failing = (number: number) => chunk(FIRST + 100 + number, `broke ${number}`, "error");

  it.each([ALL, ERRORS])("loses no line and shows none twice: %o", async (view) => {
    const lines = [...many(50), failing(0)];
    const log = new LogWindow(1, view, writing(lines, failing(1), failing(2), failing(3)));
    await log.toEnd();
    log.append(since(lines, log.place), true);
    expect(log.rows.filter((row) => row.grave === "error").map((row) => row.text)).toEqual(
      lines.filter((one) => one.level === "error").map((one) => one.message),
    );
  });

  it("loses none between a page in the middle and the end that is scrolled to", async () => {
    const lines = many(3_000);
    const log = new LogWindow(1, ALL, writing(lines, ...many(20, FIRST + 3_001)));
    await log.around(FIRST + 10);
    while (!log.atEnd) await log.newer();
    log.append(since(lines, log.place), true);
    expect(log.rows.map((row) => row.text)).toEqual(lines.map((one) => one.message));
  });

  it("does not put behind the others what lies before them", async () => {
    const lines = many(5_000);
    const log = new LogWindow(1, ALL, writing(lines));
    await log.toEnd();
    log.append(since(lines, String(FIRST + 4_000)), true); // of a stream that began long before
    expect(log.rows.map((row) => row.seq)).toEqual(log.rows.map((row) => row.seq).toSorted((a, b) => a - b));
    expect(log.rows.at(-1)?.text).toBe("line 4999");
  });

  it("has settled only when there is something to go on with", async () => {
    const log = new LogWindow(1, ALL, writing(many(3)));
    let settled = false;
    void log.settled.then(() => (settled = true));
    await Promise.resolve();
    expect(settled).toBe(false);
    await log.toEnd();
    await log.settled;
    expect(log.place).toBe(String(FIRST + 3));
  });
});

describe("a log that does not fill its box", () => {
  const far = 20_000;
  const END = FIRST + 4 * far;
  const broken = [chunk(FIRST + 5, "first", "error"), chunk(FIRST + 3 * far, "last", "error")];
  /** As the server does, which looks at so many lines a time. */
  const looking: Ask = (_instance, { after = -1, before }) => {
    const back = before !== undefined;
    const end = Math.min(before ?? END, END);
    const from = back ? Math.max(end - far, FIRST) : Math.max(after + 1, FIRST);
    const to = back ? end : Math.min(from + far, END);
    const items = broken.filter(({ seq }) => seq >= from && seq < to);
    return Promise.resolve({ items, next_after: to - 1, next_before: from, more: back ? from > FIRST : to < END });
  };

  it.each(["toStart", "toEnd"] as const)("is filled from both sides after %s", async (way) => {
    const log = new LogWindow(1, ERRORS, looking);
    await log[way]();
    expect(log.rows).toHaveLength(1);
    for (let round = 0; round < 5; round += 1) await log.fill();
    expect(log.rows.map((row) => row.text)).toEqual(["first", "last"]);
  });

  it("is not asked for by itself again once the server has refused, but by whoever looks", async () => {
    let asked = 0;
    let away = true;
    const log = new LogWindow(1, ALL, (instance, query) => {
      asked += 1;
      return away && asked < 10 ? Promise.reject(Refusal.unreachable()) : writing(many(3))(instance, query);
    });
    log.subscribe(() => void log.fill()); // as what draws it does with each change
    expect(await log.toEnd()).toBe(false);
    await new Promise((later) => setTimeout(later));
    expect([asked, log.refusal?.status]).toEqual([1, 0]);
    away = false;
    expect(await log.toEnd()).toBe(true);
    await log.settled;
    expect(log.rows).toHaveLength(3);
  });
});

describe("a log to which callbacks write as well", () => {
  it("ends at two places", async () => {
    const lines = [...many(20), chunk(CALLED, "called"), chunk(CALLED + 1, "called again")];
    expect(await askPlace(writing(lines), 1)).toBe(`${FIRST + 20}:${CALLED + 1}`);
    expect(ownEnd(lines)).toBe(FIRST + 20);
    expect(ownEnd([{ seq: CALLED }])).toBe(FIRST - 1);
    expect(await askPlace(writing([]), 1)).toBe("-1");
  });

  it("shows the executor's own later lines to who scrolls on", async () => {
    const lines = [...many(40), ...Array.from({ length: 10 }, (_, at) => chunk(CALLED + at, `called ${at}`))];
    const log = new LogWindow(1, ALL, writing(lines), 50);
    await log.toEnd();
    const later = many(3, FIRST + 41);
    lines.push(...later);
    log.append(later, false); // the window is full, and nobody looks at its end
    expect([log.atEnd, log.unseen]).toEqual([false, 3]);
    while (!log.atEnd) await log.newer();
    expect(log.rows.slice(-3).map((row) => row.text)).toEqual(later.map((one) => one.message));
  });
});

describe("a search that the server makes", () => {
  const page = (more: boolean, upTo: number) => ({ items: [], next_after: upTo, next_before: upTo, more });

  it("says that there is none, or how far it looked when it rests", async () => {
    const none: Ask = () => Promise.resolve(page(false, FIRST));
    expect(await findThere(1, ALL, { text: "x" }, FIRST + 9, "previous", none)).toEqual({ at: null, upTo: null });
    const asked: (number | undefined)[] = [];
    const endless: Ask = (_instance, { before, after }) => {
      asked.push(before ?? after);
      return Promise.resolve(page(true, (before ?? after ?? 0) + (before === undefined ? 20 : -20)));
    };
    const back = await findThere(1, ALL, { text: "x" }, FIRST + 5_000, "previous", endless);
    expect(back).toEqual({ at: null, upTo: FIRST + 4_000 });
    expect(await findThere(1, ALL, { text: "x" }, FIRST, "next", endless)).toEqual({ at: null, upTo: FIRST + 1_000 });
    expect(asked).toHaveLength(100);
  });

  it("fails when the server does", async () => {
    const away: Ask = () => Promise.reject(new Error("away"));
    await expect(findThere(1, ALL, { error: true }, FIRST, "next", away)).rejects.toThrow("away");
  });

  it("comes to the row that is meant, of all that its chunk has", () => {
    const rows = [...rowsOf(chunk(FIRST + 1, "before")), ...rowsOf(chunk(FIRST + 2, "a\nwanted\nb\nwanted\nc"))];
    expect(rowOf(rows, { text: "wanted" }, 1, "next")).toBe(2);
    expect(rowOf(rows, { text: "wanted" }, 1, "previous")).toBe(4);
    expect(rowOf(rows, { text: "of the exception" }, 1, "previous")).toBe(1);
  });
});

describe("choosing", () => {
  const rows = [chunk(FIRST, "0"), chunk(FIRST + 1, "1"), chunk(FIRST + 2, "2")].flatMap(rowsOf); // the first: a heading
  const at = (seq: number) => ({ seq: FIRST + seq, part: 0 });
  const from = (line: number, to: number | null = null) => ({ line: at(line), to: to === null ? null : at(to) });

  it("by a click, and up to another one from whatever was chosen before", () => {
    expect(clicked(null, at(1), false)).toEqual(from(1));
    expect(clicked(from(0), at(2), true)).toEqual(from(0, 2));
    expect(clicked(null, at(2), true)).toEqual(from(2));
    expect(chosenRows(rows, clicked(from(2), at(1), true))).toEqual({ from: 2, to: 3 });
  });

  it("by keys begins on the screen, passes headings over, extends, and stops at the ends", () => {
    const one = { start: 0, extend: false };
    expect(stepped(rows, null, 1, one)).toEqual({ choice: from(0), index: 1 });
    expect(stepped(rows, null, -1, { start: 2, extend: true })).toEqual({ choice: from(1), index: 2 });
    expect(stepped(rows, from(0), 1, one)).toEqual({ choice: from(1), index: 2 });
    expect(stepped(rows, from(0), -1, one)).toBeNull();
    expect(stepped(rows, from(2), 1, one)).toBeNull();
    const extended = stepped(rows, from(2), -1, { start: 0, extend: true })?.choice ?? null;
    expect(extended).toEqual(from(2, 1));
    expect(stepped(rows, extended, -1, { start: 0, extend: true })?.choice).toEqual(from(2, 0));
    expect(stepped(rows, extended, -1, one)?.choice).toEqual(from(0));
    expect(stepped(rows, from(99), 1, { start: 2, extend: true })).toEqual({ choice: from(1), index: 2 }); // is not here
  });
});

describe("what is copied whole", () => {
  it("is read to its end, or not further than a clipboard is good for", async () => {
    const text = "日志\n".repeat(1_000);
    expect(await readUpTo(new Response(text), 10_000)).toBe(text);
    expect(await readUpTo(new Response(null), 10)).toBe("");
    let sent = 0;
    const endless = new ReadableStream<Uint8Array>({
      pull: (into) => {
        sent += 1;
        into.enqueue(new Uint8Array(1_000));
      },
    });
    expect(await readUpTo(new Response(endless), 10_000)).toBeNull();
    expect(sent).toBeLessThan(20);
  });
});
