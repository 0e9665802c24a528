// The log's rows and its window: nothing is lost, nothing comes twice, and it stays small.
import { describe, expect, it } from "vitest";

import { plainOf, spansOf } from "../src/pages/instance/log/ansi";
import { pageOf } from "../src/pages/instance/log/source";
import { chosenRows } from "../src/pages/instance/log/choosing";
import { textOf } from "../src/pages/instance/log/copying";
import { findHere } from "../src/pages/instance/log/finding";
import { placeAfter } from "../src/pages/instance/log/place";
import {
  addressOf,
  END_OF_LOG,
  failingRow,
  LONGEST,
  numberOf,
  OF_ONE_ATTEMPT,
  readAddress,
  rowsOf,
  seen,
  type Chunk,
} from "../src/pages/instance/log/rows";
import type { Ask } from "../src/pages/instance/log/source";
import { LogWindow } from "../src/pages/instance/log/window";

function chunk(seq: number, message: string, more: Partial<Chunk> = {}): Chunk {
  const plain = { logged_at: "2026-11-16T04:00:00Z", level: "info", phase: null, stream: null, exception: null };
  return { seq, message, ...plain, ...more };
}

const FIRST = OF_ONE_ATTEMPT;
const ALL = { only: "all", fence: null } as const;

describe("rows", () => {
  it("are the lines of a chunk, under the heading of their attempt", () => {
    const rows = rowsOf(chunk(FIRST, "one\ntwo\n"));
    expect(rows.map((row) => [row.kind, row.text])).toEqual([
      ["attempt", ""],
      ["text", "one"],
      ["text", "two"],
    ]);
    expect(rows.map(numberOf)).toEqual(["", "1", "1.1"]);
    expect(rows.slice(1).map(addressOf)).toEqual([String(FIRST), `${FIRST}.1`]);
  });

  it("are never longer than one element can be, and one line again when copied", () => {
    const long = "x".repeat(LONGEST * 3 + 5);
    const rows = rowsOf(chunk(FIRST + 1, `${long}\nend\n`));
    expect(rows.map((row) => row.text.length)).toEqual([LONGEST, LONGEST, LONGEST, 5, 3]);
    expect(textOf(rows)).toBe(`${long}\nend`);
  });

  it("do not go through a character", () => {
    const rows = rowsOf(chunk(FIRST + 1, `${"x".repeat(LONGEST - 1)}\u{1F552}y`));
    expect(rows.map((row) => row.text.at(-1))).toEqual(["\udd52", "y"]);
  });

  it("show what a terminal would show, and what it would not", () => {
    expect(seen("10%\r20%\r100%")).toBe("100%");
    expect(seen("a\u0000b\u0007")).toBe("a\u2400b\u2407");
    expect(seen("\u001b]0;title\u0007\u001b[2Kdone")).toBe("done");
  });

  it("of an exception are errors, whatever the level", () => {
    const rows = rowsOf(chunk(FIRST + 1, "broke", { exception: "Traceback\n  here\n" }));
    expect(rows.map((row) => [row.kind, row.grave])).toEqual([
      ["text", "error"],
      ["trace", "error"],
      ["trace", "error"],
    ]);
  });

  it("can be found by their address", () => {
    expect(readAddress("4294967297.3")).toEqual({ seq: 4294967297, part: 3 });
    for (const wrong of [undefined, "", "x", "1.", "99999999999999999"]) expect(readAddress(wrong)).toBeNull();
    const rows = rowsOf(chunk(FIRST + 1, "a\nb\nc"));
    const at = (part: number) => ({ seq: FIRST + 1, part });
    expect(chosenRows(rows, { line: at(2), to: at(1) })).toEqual({ from: 1, to: 2 });
    expect(chosenRows(rows, { line: at(9), to: null })).toBeNull();
  });
});

describe("what failed", () => {
  const said = [
    chunk(FIRST, "dialling\n"),
    chunk(FIRST + 1, "no paper\n", { stream: "stderr" }),
    chunk(FIRST + 2, "bye"),
  ];
  const row = (chunks: Chunk[], message: string | null) => {
    const rows = chunks.flatMap(rowsOf);
    return rows[failingRow(rows, message)]?.text;
  };
  it("is the last error, else what the message quotes, else the last of stderr, else the end", () => {
    expect(row([...said, chunk(FIRST + 3, "bad", { level: "error" }), chunk(FIRST + 4, "end")], "x")).toBe("bad");
    expect(row(said, "exit code 4: dialling")).toBe("dialling");
    expect(row(said, "exit code 4")).toBe("no paper");
    expect(row([chunk(FIRST, "only\n"), chunk(FIRST + 1, "end")], null)).toBe("end");
  });
});

describe("colours", () => {
  it("become classes, and are not in the text", () => {
    expect(spansOf("\u001b[31mred\u001b[0m plain").map((span) => [span.text, span.className])).toEqual([
      ["red", "ansi-fg-red"],
      [" plain", ""],
    ]);
    expect(spansOf("\u001b[1;38;2;10;200;30mtrue")[0]?.className).toBe("ansi-fg-green ansi-bold");
    expect(spansOf("\u001b[48;5;196mpalette")[0]?.className).toBe("ansi-bg-red");
    expect(plainOf("\u001b[31mred\u001b[0m")).toBe("red");
  });
});

describe("where the stream goes on", () => {
  it("tells both ends while callbacks write as well", () => {
    expect(placeAfter([])).toBe("-1");
    expect(placeAfter([{ seq: FIRST }, { seq: FIRST + 7 }])).toBe(String(FIRST + 7));
    const called = FIRST + 2 ** 31;
    expect(placeAfter([{ seq: FIRST + 7 }, { seq: called }])).toBe(`${FIRST + 7}:${called}`);
  });
});

/** A log of so many lines, as the server would give it. */
function server(lines: Chunk[]): { ask: Ask; lines: Chunk[] } {
  const ask: Ask = (_instance, { after = -1, before, limit, level }) => {
    const within = lines.filter((one) => one.seq > after && (before === undefined || one.seq < before));
    const fitting = within.filter((one) => level === undefined || one.level === level);
    const items = before === undefined ? fitting.slice(0, limit) : fitting.slice(-limit);
    return Promise.resolve({
      items,
      next_after: items.at(-1)?.seq ?? after,
      next_before: items[0]?.seq ?? null,
      more: items.length === limit,
    });
  };
  return { ask, lines };
}

const many = (count: number) => Array.from({ length: count }, (_, at) => chunk(FIRST + 1 + at, `line ${at}`));

describe("a window", () => {
  it("begins at the end, and goes back to the start without a gap", async () => {
    const { ask } = server(many(500));
    const log = new LogWindow(1, ALL, ask, 5_000);
    await log.toEnd();
    expect(log.rows.at(-1)?.text).toBe("line 499");
    while (!log.atStart) await log.older();
    expect(log.rows.map((row) => row.text)).toEqual(many(500).map((one) => one.message));
  });

  it("holds no more than it may, and fetches again what it let go", async () => {
    const log = new LogWindow(1, ALL, server(many(900)).ask, 200);
    await log.toEnd();
    while (!log.atStart) {
      await log.older();
      expect(log.rows.length).toBeLessThanOrEqual(200);
    }
    expect(log.atEnd).toBe(false);
    while (!log.atEnd) {
      await log.newer();
      expect(log.rows.length).toBeLessThanOrEqual(200);
    }
    expect(log.rows.map((row) => row.text)).toEqual(
      many(900)
        .map((one) => one.message)
        .slice(-log.rows.length),
    );
  });

  it("takes each line that comes live once, and counts those that nobody sees", async () => {
    const { ask, lines } = server(many(50));
    const log = new LogWindow(1, ALL, ask, 5_000);
    await log.toEnd();
    log.append([lines[49] as Chunk, chunk(FIRST + 60, "new")], true);
    expect(log.rows.filter((row) => row.seq === lines[49]?.seq)).toHaveLength(1);
    expect([log.rows.at(-1)?.text, log.unseen]).toEqual(["new", 0]);
    log.append([chunk(FIRST + 61, "a\nb")], false);
    expect(log.unseen).toBe(2);
  });

  it("loses nothing that comes while a page is on its way", async () => {
    const { ask, lines } = server(many(50));
    const log = new LogWindow(1, ALL, ask, 5_000);
    const loading = log.toEnd();
    log.append([lines[49] as Chunk, chunk(FIRST + 60, "meanwhile")], true);
    await loading;
    expect(log.rows.slice(-2).map((row) => row.text)).toEqual(["line 49", "meanwhile"]);
  });

  it("grows no further at its end while somebody reads elsewhere in it", async () => {
    const log = new LogWindow(1, ALL, server(many(50)).ask, 50);
    await log.toEnd();
    log.append([chunk(FIRST + 60, "later")], false);
    expect([log.rows.length, log.atEnd, log.unseen]).toEqual([50, false, 1]);
  });

  it("shows errors alone, or one attempt alone", async () => {
    const second = [chunk(2 * FIRST, "again"), chunk(2 * FIRST + 1, "broke", { level: "error" })];
    const { ask } = server([...many(300), ...second]);
    const errors = new LogWindow(1, { only: "errors", fence: null }, ask);
    await errors.toEnd();
    expect(errors.rows.map((row) => row.text)).toEqual(["broke"]);
    const attempt = new LogWindow(1, { only: "all", fence: 1 }, ask);
    await attempt.toStart();
    while (!attempt.atEnd) await attempt.newer();
    expect(attempt.rows.at(-1)?.text).toBe("line 299");
  });

  it("finds what is around a line, wherever it is", async () => {
    const log = new LogWindow(1, ALL, server(many(3_000)).ask, 5_000);
    await log.around(FIRST + 1_001);
    const index = log.indexOf({ seq: FIRST + 1_001, part: 0 });
    expect(log.rows[index]?.text).toBe("line 1000");
    expect([log.rows[index - 1]?.text, log.rows[index + 1]?.text]).toEqual(["line 999", "line 1001"]);
    expect(findHere(log.rows, { text: "LINE 1003" }, index, "next")).toBe(index + 3);
    expect(findHere(log.rows, { text: "line 1003" }, index, "previous")).toBe(-1);
    expect(END_OF_LOG).toBe(2 ** 53);
  });
});

describe("a page of errors", () => {
  it("is empty at once where the server finds only what was written to stderr", async () => {
    let asked = 0;
    const asking: Ask = () => {
      asked += 1;
      const items = [chunk(FIRST + 1, "x", { stream: "stderr" })];
      return Promise.resolve({ items, next_after: FIRST + 1, next_before: FIRST + 1, more: true });
    };
    const page = await pageOf(asking, 1, { only: "errors", fence: null }, { before: FIRST + 9 }, { limit: 60 });
    expect([page.items, asked]).toEqual([[], 1]);
  });
});
