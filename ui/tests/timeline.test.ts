import { describe, expect, it } from "vitest";

import { moved, periodOf, ticks, written, zoomed } from "../src/pages/timeline/period";
import { rowsOf, type Bar } from "../src/pages/timeline/rows";

const NOW = Date.parse("2026-11-16T12:00:30Z");
const HOUR = 3_600_000;

describe("the period", () => {
  it("goes along with the clock unless both ends are given", () => {
    const live = periodOf({}, NOW);
    expect(live).toEqual({ from: NOW - HOUR, to: NOW + HOUR / 6, live: true });
    const stands = periodOf({ from: "2026-11-16T10:00:00Z", to: "2026-11-16T11:00:00Z" }, NOW);
    expect(stands.live).toBe(false);
    expect(written(stands)).toEqual({ from: "2026-11-16T10:00:00Z", to: "2026-11-16T11:00:00Z" });
    expect(periodOf({ from: "2026-11-16T11:00:00Z", to: "2026-11-16T10:00:00Z" }, NOW).live).toBe(true);
  });

  it("is never longer than the server answers", () => {
    const long = periodOf({ from: "2026-01-01T00:00:00Z", to: "2026-11-16T00:00:00Z" }, NOW);
    expect(long.to - long.from).toBe(7 * 24 * HOUR);
    const far = zoomed(long, 0.5, 4);
    expect(far.to - far.from).toBe(7 * 24 * HOUR);
    const live = periodOf({ from: "-90d" }, NOW);
    expect(live.to - live.from).toBeLessThanOrEqual(7 * 24 * HOUR);
  });

  it("is zoomed around what is pointed at, and moved by its parts", () => {
    const period = { from: 0, to: 100_000, live: false };
    expect(zoomed(period, 0.25, 0.5)).toEqual({ from: 12_500, to: 62_500, live: false });
    expect(moved(period, -0.5)).toEqual({ from: -50_000, to: 50_000, live: false });
  });

  it("has its marks at round times of the zone", () => {
    const from = Date.parse("2026-11-16T18:10:00Z");
    const marks = ticks({ from, to: from + HOUR, live: false }, "Asia/Kolkata", 6); // 23:40 there
    expect(marks.map((mark) => mark.label)).toEqual(["23:40", "23:50", "11-17", "00:10", "00:20", "00:30", "00:40"]);
  });
});

describe("rows", () => {
  const bar = (id: number, start: string, end: string | null, task = 1): Bar => ({
    instance_id: id,
    task_id: task,
    task_name: `task-${task}`,
    group: "default",
    status: end === null ? "running" : "success",
    start_time: `2026-11-16T${start}Z`,
    end_time: end && `2026-11-16T${end}Z`,
    executor_id: "one",
    attempt: 1,
  });

  it("lay side by side what ran at the same time, and after each other what did not", () => {
    const rows = rowsOf(
      [bar(3, "11:30:00", null), bar(1, "10:00:00", "11:00:00"), bar(2, "10:30:00", "11:45:00")],
      [],
      NOW,
    );
    expect(rows.map((row) => row.bars.map((one) => [one.instance_id, one.lane]))).toEqual([
      [
        [1, 0],
        [2, 1],
        [3, 0],
      ],
    ]);
    expect(rows[0]?.lanes).toBe(2);
  });

  it("are there for what is only to come", () => {
    const mark = {
      task_id: 2,
      task_name: "books",
      group: "g",
      timezone: "UTC",
      at: "2026-11-16T13:00:00Z",
      note: null,
    };
    const rows = rowsOf([bar(1, "10:00:00", "11:00:00")], [mark], NOW);
    expect(rows.map((row) => [row.name, row.bars.length, row.marks.length])).toEqual([
      ["books", 0, 1],
      ["task-1", 1, 0],
    ]);
  });
});
