import { describe, expect, it } from "vitest";

import { instantAt, tomorrowAtNine, wallClock } from "../src/time/local";
import { cronInWords, readSchedule } from "../src/time/schedule";

describe("readSchedule", () => {
  it.each([
    ["*/5 * * * *", { form: "cron", cron: "*/5 * * * *" }],
    ["@Daily", { form: "cron", cron: "0 0 * * *" }],
    ["@every 1h30m", { form: "every", milliseconds: 5_400_000 }],
    ["@after 1500ms", { form: "after", milliseconds: 1_500 }],
    ["@at 2027-01-01T09:00", { form: "at", moment: "2027-01-01T09:00" }],
    ["@upstream", { form: "upstream" }],
    ["@MANUAL", { form: "manual" }],
    ["@sometimes", { form: "unknown" }],
  ])("%s", (text, read) => {
    expect(readSchedule(text)).toEqual(read);
  });
});

describe("cronInWords", () => {
  it("speaks both languages", () => {
    expect(cronInWords("0 9 * * MON-FRI", "en")).toBe("At 09:00, Monday through Friday");
    expect(cronInWords("0 9 * * MON-FRI", "zh")).toBe("在09:00，星期一至星期五");
  });

  it("counts the days of Quartz from Sunday, 1", () => {
    expect(cronInWords("0 0 0 ? * 2", "en")).toBe("At 00:00, only on Monday");
    expect(cronInWords("0 0 * * 2", "en")).toBe("At 00:00, only on Tuesday");
  });

  it("says nothing rather than something wrong", () => {
    expect(cronInWords("0 0 2 L-3W * ?", "en")).toBeNull();
  });
});

describe("a clock on the wall", () => {
  it("is read and set in its zone", () => {
    expect(wallClock(new Date("2026-11-16T01:30:00Z"), "Asia/Shanghai")).toBe("2026-11-16T09:30");
    expect(instantAt("2026-11-16T09:30", "Asia/Shanghai")?.toISOString()).toBe("2026-11-16T01:30:00.000Z");
    expect(instantAt("2026-07-01T09:30", "Europe/Berlin")?.toISOString()).toBe("2026-07-01T07:30:00.000Z");
  });

  it("means the first of two, and jumps over what is never shown", () => {
    expect(instantAt("2026-10-25T02:30", "Europe/Berlin")?.toISOString()).toBe("2026-10-25T00:30:00.000Z");
    expect(instantAt("2027-03-28T02:30", "Europe/Berlin")?.toISOString()).toBe("2027-03-28T01:30:00.000Z");
  });

  it("gives nothing for what is no time", () => {
    expect(instantAt("", "UTC")).toBeNull();
  });

  it("knows nine o'clock of the next day there", () => {
    const late = new Date("2026-11-16T20:00:00Z"); // already the 17th in Shanghai
    expect(tomorrowAtNine(late, "Asia/Shanghai").toISOString()).toBe("2026-11-18T01:00:00.000Z");
  });
});
