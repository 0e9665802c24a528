import { describe, expect, it } from "vitest";

import { instantAt, instantOf, wallOf } from "../src/parts/period";

describe("a period", () => {
  it("counts back from now, in whole minutes", () => {
    const now = Date.UTC(2026, 10, 16, 12, 0, 42);
    expect(instantOf("-24h", now)).toBe("2026-11-15T12:00:00.000Z");
    expect(instantOf("-15m", now)).toBe("2026-11-16T11:45:00.000Z");
    expect(instantOf("2026-11-16T13:00:00+01:00", now)).toBe("2026-11-16T12:00:00.000Z");
    expect([instantOf("soon", now), instantOf("", now), instantOf(undefined, now)]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("is read from the clock of a zone, also on the days when it is changed", () => {
    for (const zone of ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "UTC"]) {
      for (const at of ["2026-03-29T03:30:00.000Z", "2026-10-25T04:30:00.000Z", "2026-07-01T00:00:00.000Z"]) {
        expect(instantAt(wallOf(at, zone), zone)).toBe(at);
      }
    }
    expect(instantAt("", "UTC")).toBeUndefined();
    expect(wallOf(undefined, "UTC")).toBe("");
  });
});
