import { describe, expect, it } from "vitest";

import { daysOf, filled, heatOf, hoursOf, peakOf, restsOf, turned, type Rest } from "../src/pages/calendar/cells";
import { busiestMinute } from "../src/pages/calendar/minutes";

describe("days", () => {
  it("are those of the month, or of the week from Monday", () => {
    expect(daysOf("month", "2028-02-10")).toHaveLength(29);
    expect(daysOf("week", "2026-11-15")).toEqual(expect.arrayContaining(["2026-11-09", "2026-11-15"]));
    expect(daysOf("week", "2026-11-16")[0]).toBe("2026-11-16");
  });

  it("turn over the ends of years", () => {
    expect(turned("month", "2026-12-31", 1)).toBe("2027-01-01");
    expect(turned("month", "2026-01-31", -1)).toBe("2025-12-01");
    expect(turned("week", "2026-12-30", 1)).toBe("2027-01-06");
  });
});

describe("hours", () => {
  const none = { ended: [], coming: [], rests: [] };

  it("are skipped in spring and longer in autumn, as the clock of the zone has it", () => {
    const spring = hoursOf(["2026-03-29"], "Europe/Berlin");
    expect(spring.filter((one) => one.from === null).map((one) => one.hour)).toEqual([2]);
    const autumn = hoursOf(["2026-10-25"], "Europe/Berlin");
    expect(autumn.map((one) => (one.to - (one.from ?? 0)) / 3_600_000).filter((length) => length !== 1)).toEqual([2]);
  });

  it("have what falls into them, whatever the zone", () => {
    const hours = hoursOf(["2026-11-16", "2026-11-17"], "Asia/Shanghai");
    const coming = [
      { at: "2026-11-15T15:00:00Z", count: 100 }, // the day before
      { at: "2026-11-16T15:00:00Z", count: 3 },
      { at: "2026-11-16T16:00:00Z", count: 14 },
    ];
    const cells = filled(hours, { ...none, coming }, undefined);
    const found = cells.filter((one) => one.coming > 0).map((one) => [one.date, one.hour, one.coming]);
    expect(found).toEqual([
      ["2026-11-16", 23, 3],
      ["2026-11-17", 0, 14],
    ]);
    expect(peakOf(cells)?.coming).toBe(14);
    expect(peakOf(hours)).toBeNull();
  });

  it("rest as a whole or in part, by what is looked at", () => {
    const hours = hoursOf(["2026-11-16"], "UTC");
    const at = (hour: number) => Date.UTC(2026, 10, 16, hour);
    const rest = (scope: Rest["scope"], of: string | null, from: number, to: number | null): Rest => ({
      key: scope,
      kind: "pause",
      name: "",
      scope,
      of,
      from,
      to,
    });
    const rests = [
      rest("group", "shop", at(3), at(4)),
      rest("task", "books", at(5), null),
      rest("all", null, at(22), null),
    ];
    const told = (group?: string) =>
      filled(hours, { ...none, rests }, group)
        .filter((one) => one.rests !== null)
        .map((one) => `${one.hour} ${one.rests}`);
    expect(told()).toEqual(["3 part", "22 all", "23 all"]);
    expect(told("shop")).toEqual(["3 all", "22 all", "23 all"]);
    expect(told("other")).toEqual(["22 all", "23 all"]);
  });

  it("rest while a maintenance window is open, unless it is switched off", () => {
    const nobody = { task_id: null, task_name: null, group: null, reason: "", created_at: "2026-11-01T00:00:00Z" };
    const clock = { schedule: "0 2 * * *", duration_seconds: 7_200, calendar: null, timezone: "Asia/Kolkata" };
    const next = [{ from: "2026-11-15T20:30:00Z", to: "2026-11-15T22:30:00Z" }];
    const window = { ...nobody, ...clock, id: 1, name: "patches", scope: "all" as const, owner: "", open: false, next };
    const rests = restsOf([], [{ ...window, enabled: true } as never, { ...window, id: 2, enabled: false } as never]);
    expect(rests.map(({ kind, name }) => [kind, name])).toEqual([["window", "patches"]]);
    const cells = filled(hoursOf(["2026-11-16"], "Asia/Kolkata"), { ...none, rests }, undefined);
    expect(cells.filter((one) => one.rests === "all").map((one) => one.hour)).toEqual([2, 3]);
  });

  it("are as hot as they stand out", () => {
    expect(heatOf(0, [0, 5])).toBe(0);
    expect(heatOf(1_000, [1_000, 1_001])).toBe(0.4);
    expect(heatOf(50, [10, 50])).toBe(1);
    expect(heatOf(10, [10, 50])).toBeCloseTo(0.15);
  });
});

describe("minutes", () => {
  it("have a busiest one only when something fires", () => {
    const step = (minute: number, count: number) => ({ at: `2026-11-16T00:0${minute}:00Z`, count });
    expect(busiestMinute([step(0, 0)])).toBeNull();
    expect(busiestMinute([step(0, 2), step(1, 9), step(2, 9)])?.at).toBe("2026-11-16T00:01:00Z");
  });
});
