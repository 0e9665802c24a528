// Whatever a page reads is fetched again when it changes: by an event, or, where that is said here, by asking now and then.
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { expect, it } from "vitest";

import { begins, BY_A_CLOCK, paceOf, TOPICS } from "../src/api/topics";

const SOURCE = join(import.meta.dirname, "..", "src");
/** What changes seldom, or is looked at seldom: no event tells of it. */
const ONLY_POLLED = [
  "/api/v1/audit-logs",
  "/api/v1/calendars",
  "/api/v1/data-sources",
  "/api/v1/demo",
  "/api/v1/diagnosis",
  "/api/v1/kinds",
  "/api/v1/sessions",
  "/api/v1/tokens",
  "/api/v1/users",
  "/api/v1/version",
];
/** A call that reads, its parameters of type left out, up to its first argument. */
const READS = /\b(?:useGet|usePaged)(?:<[^(]*>)?\(\s*(?:["`]([^"`]+)["`]|([\w.]+)|\S)/g;

function constantOf(code: string, name: string): string | undefined {
  return new RegExp(`const ${name} = "([^"]+)"`).exec(code)?.[1];
}

/** Every path that is read, and the files that do. */
function read(): Map<string, string[]> {
  const found = new Map<string, string[]>();
  for (const name of readdirSync(SOURCE, { recursive: true, encoding: "utf-8" })) {
    if (!/\.tsx?$/.test(name) || name.startsWith(join("api", ""))) continue;
    const code = readFileSync(join(SOURCE, name), "utf-8");
    for (const [call, literal, constant] of code.matchAll(READS)) {
      const written = literal?.replace(/\$\{(\w+)\}/, (hole, name: string) => constantOf(code, name) ?? hole);
      const path = written ?? (constant && constantOf(code, constant)) ?? call;
      found.set(path, [...(found.get(path) ?? []), name]);
    }
  }
  return found;
}

const paths = read();
const told = Object.values(TOPICS).flat();

it("every path that a page reads is one that events tell of, or one that is only polled", () => {
  expect(paths.size).toBeGreaterThan(30);
  const forgotten = [...paths].filter(([path]) => !begins(path, told) && !begins(path, ONLY_POLLED));
  expect(forgotten).toEqual([]);
});

it("what is only polled is read by some page, and no event tells of it", () => {
  const wrong = ONLY_POLLED.filter(
    (path) => begins(path, told) || ![...paths.keys()].some((one) => begins(one, [path])),
  );
  expect(wrong).toEqual([]);
});

it("what events tell of is read by some page", () => {
  expect(told.filter((path) => ![...paths.keys()].some((one) => begins(one, [path])))).toEqual([]);
});

it("a month by a zone's clock, which may be added up from minutes, is seldom asked for", () => {
  const series = "/api/v1/stats/series";
  expect(paceOf([series, { query: { step: "1h", timezone: "Asia/Kolkata" } }])).toBe(BY_A_CLOCK);
  expect(paceOf([series, { query: { step: "1m" } }])).toBeLessThan(BY_A_CLOCK);
  expect(paceOf([series])).toBeLessThan(BY_A_CLOCK);
});
