import { describe, expect, it } from "vitest";

import { noteOf, restOf } from "../src/time/notes";

describe("notes of the server", () => {
  it("about clocks can be said in another language", () => {
    expect(noteOf("02:30 does not exist on 2027-03-28 in Europe/Berlin: fires at 03:00 instead")).toEqual({
      word: "gap",
      values: { times: "02:30", day: "2027-03-28", zone: "Europe/Berlin", instead: "03:00" },
    });
    expect(noteOf("02:00 to 02:45 occur twice on 2027-10-31 in Europe/Berlin: fires twice")?.word).toBe("foldTwice");
    expect(noteOf("something new")).toBeNull();
  });

  it.each([
    ["it falls into a pause and is skipped", "falls", { word: "pause", values: {} }],
    [
      "1 instant falls into the pause until 2026-11-16T09:00:00Z and is skipped",
      "fall",
      { word: "pauseUntil", values: { at: "2026-11-16T09:00:00Z" } },
    ],
    [
      'at least 1,000 instants fall into the maintenance window "Lin\'s" and are skipped',
      "fallMore",
      { word: "window", values: { name: "Lin's" } },
    ],
  ])("about rests are taken apart: %s", (text, word, rest) => {
    const note = noteOf(text);
    expect(note?.word).toBe(word);
    expect(restOf(note?.values.rest ?? "")).toEqual(rest);
  });

  it("about what never comes are known", () => {
    expect(noteOf("it is paused until somebody resumes it")?.word).toBe("open");
    expect(noteOf("nothing after 2026-11-16T09:00:00Z was looked at: it rests too often")?.values).toEqual({
      at: "2026-11-16T09:00:00Z",
    });
    expect(restOf("something new")).toBeNull();
  });
});
