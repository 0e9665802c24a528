import { describe, expect, it } from "vitest";

import { lengthOf, partsIn, relative } from "../src/time/format";

describe("lengthOf", () => {
  it.each([
    [0, "0 ms"],
    [999, "999 ms"],
    [1_234, "1.2 s"],
    [75_000, "1 min 15 s"],
    [3_600_000, "1 h"],
    [90_000_000 * 2, "2 d 2 h"],
  ])("%d is %s", (ms, text) => {
    expect(lengthOf(ms)).toBe(text);
  });
});

describe("partsIn", () => {
  it("shows an instant by the clock of a zone", () => {
    const parts = partsIn(new Date("2026-11-16T01:02:03Z"), "Asia/Shanghai");
    expect([parts.date, parts.clock]).toEqual(["2026-11-16", "09:02:03"]);
  });

  it("shows what is no time as none, rather than to fall over it", () => {
    expect(partsIn(new Date("yesterday"), "UTC").date).toBe("–");
  });

  it("shows a zone it does not know as UTC", () => {
    expect(partsIn(new Date("2026-11-16T01:02:03Z"), "Mars/Olympus").zone).toBe("UTC");
  });
});

describe("relative", () => {
  it("speaks the language of the page", () => {
    const now = new Date("2026-11-16T01:00:00Z");
    expect(relative(new Date("2026-11-16T01:05:00Z"), now, "en")).toBe("in 5 min.");
    expect(relative(new Date("2026-11-16T00:55:00Z"), now, "zh")).toBe("5分钟前");
  });
});
