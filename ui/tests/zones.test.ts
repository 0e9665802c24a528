import { describe, expect, it } from "vitest";

import { allZones, callOf, citiesOf, matches, offsetOf } from "../src/time/zones";

const at = new Date("2026-11-16T00:00:00Z");

describe("zones", () => {
  it("are all there, with what their clocks are ahead by", () => {
    expect(allZones()[0]).toBe("UTC");
    expect(allZones()).toContain("Asia/Shanghai");
    expect([offsetOf("Asia/Kathmandu", at), offsetOf("Mars/Base", at)]).toEqual(["UTC+5:45", ""]);
  });

  it("are found by name, by offset and by what people call their time", () => {
    const told = (zone: string) => `${zone} ${offsetOf(zone, at)} ${callOf(zone, "zh", at)} ${citiesOf(zone)}`;
    expect(matches("new york", told("America/New_York"))).toBe(true);
    expect(matches("+8 asia", told("Asia/Shanghai"))).toBe(true);
    expect(matches("中国", told("Asia/Shanghai"))).toBe(true);
    expect(matches("中国", told("Asia/Tokyo"))).toBe(false);
    expect(matches("上海", told("Asia/Shanghai"))).toBe(true);
    expect(matches("beijing", told("Asia/Shanghai"))).toBe(true);
  });
});
