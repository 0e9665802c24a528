// Every reason has a sentence in both languages, whatever its data is, and the ETA does not promise too much.
import { readFileSync } from "node:fs";
import { join } from "node:path";

import i18next from "i18next";
import { describe, expect, it } from "vitest";

import { etaOf } from "../src/pages/instance/eta";
import { rowsOf } from "../src/pages/instance/log/rows";
import { phasesOf } from "../src/pages/instance/phases";
import { sentenceOf, thingsOf, type Reason } from "../src/pages/instance/sentence";

const ROOT = join(import.meta.dirname, "..");
const words = (language: string) =>
  JSON.parse(readFileSync(join(ROOT, "src", "i18n", language, "instance.json"), "utf-8")) as object;
const schema = readFileSync(join(ROOT, "src", "api", "schema.d.ts"), "utf-8");
const CODES = [...(/ Code: ([^;]+);/.exec(schema)?.[1] ?? "").matchAll(/"(\w+)"/g)].map(([, code]) => code ?? "");

const FULL: Record<string, unknown> = {
  task_id: 7,
  task_name: "close_books",
  scheduled_time: "2026-11-16T00:00:00Z",
  instances: { 41: "running" },
  key: "ledger",
  limit: 2,
  taken: 2,
  ahead: 3,
  scope: "group",
  owner: "ada",
  reason: "moving",
  by: "ada",
  pause_id: 3,
  window_id: 4,
  name: "night",
  group: "billing",
  silent: ["host-1"],
  target_executor_id: "host-2",
  others: ["host-3"],
  handler: "shop.close",
  requires: "python:shop",
  labels: { gpu: "yes" },
  executors: { "host-1": {} },
  count: 2,
  attempt: 1,
  attempts: 3,
  error_message: "exit code 3",
  unmet: [{ task_id: 9 }],
  losses: 2,
  most: 3,
  retry_count: 1,
  manual_retries: 2,
  executor_id: "host-1",
};
const reason = (code: string, data: Record<string, unknown>, until: string | null): Reason => ({
  code: code as Reason["code"],
  data,
  text: "as the server says it",
  since: null,
  until,
});

describe("a reason", () => {
  it.each(["en", "zh"])("is a whole sentence in %s, with or without its data", async (language) => {
    const speaking = i18next.createInstance();
    await speaking.init({
      lng: language,
      ns: ["instance"],
      defaultNS: "instance",
      resources: { [language]: { instance: words(language) } },
      interpolation: { escapeValue: false },
    });
    expect(CODES.length).toBeGreaterThan(35);
    for (const code of CODES) {
      for (const given of [reason(code, FULL, "2026-11-16T05:00:00Z"), reason(code, { scope: "all" }, null)]) {
        const { key, values } = sentenceOf(given, (instant) => instant);
        const said = speaking.t(`explain.${key}`, values);
        expect(said, code).not.toMatch(/explain\.|\{\{|undefined|null|as the server/);
        expect(said.length, code).toBeGreaterThan(5);
      }
    }
  });

  it("that is new is told in the server's own words", () => {
    expect(sentenceOf(reason("brand_new", {}, null), String).values.said).toBe("as the server says it");
  });

  it("leads to what it names", () => {
    const kinds = (code: string) => thingsOf(reason(code, FULL, null)).map((thing) => thing.kind);
    expect(kinds("upstream_open")).toContain("task");
    expect(kinds("concurrency_full")).toContain("instance");
    expect(kinds("paused")).toContain("pause");
    expect(kinds("no_executor")).toContain("group");
    expect(kinds("executors_full")).toContain("executor");
  });
});

describe("how long it still takes", () => {
  it("goes by its own progress", () => {
    expect(etaOf(30_000, 0.75, 60_000)).toEqual({ fraction: 0.75, by: "progress", left: 10_000, over: null });
  });
  it("goes by the median when it tells none, or has just begun", () => {
    expect(etaOf(15_000, null, 60_000)).toMatchObject({ fraction: 0.25, by: "median", left: 45_000 });
    expect(etaOf(5_000, 0.001, 60_000)).toMatchObject({ by: "progress", left: 55_000 });
  });
  it("is never done before it is, and says when it takes longer than usual", () => {
    expect(etaOf(90_000, null, 60_000)).toEqual({ fraction: 0.99, by: "median", left: null, over: 30_000 });
  });
  it("is not known without either", () => {
    expect(etaOf(90_000, null, null)).toEqual({ fraction: null, by: null, left: null, over: null });
  });
});

describe("phases", () => {
  const line = (seq: number, phase: string | null) =>
    rowsOf({
      seq,
      phase,
      message: "x",
      logged_at: `2026-11-16T04:00:0${seq % 10}Z`,
      level: "info",
      stream: null,
      exception: null,
    });
  const fence = (seq: number) => Math.floor(seq / 2 ** 32);
  it("are those of the last attempt, each from its first line to its last", () => {
    const rows = [
      line(1, "old"),
      ...["read", "read", null, "write"].map((phase, at) => line(2 ** 32 + 4 + at, phase)),
    ].flat();
    expect(phasesOf(rows, fence).phases.map(({ name }) => name)).toEqual(["read", "write"]);
  });
  it("are the last dozen of many", () => {
    const rows = Array.from({ length: 40 }, (_, at) => line(2 ** 32 + 1 + at, `shelf ${at}`)).flat();
    const { phases, more } = phasesOf(rows, fence);
    expect([phases.length, phases.at(-1)?.name, more]).toEqual([12, "shelf 39", true]);
  });
});
