import { describe, expect, it } from "vitest";

import { Refusal, type ProblemBody } from "../src/api/refusal";
import { faultsIn, standing } from "../src/parts/faults";
import { idOf } from "../src/state/url";

const refused = (status: number, detail: string, errors?: unknown[]) =>
  Refusal.from(status, { type: "about:blank", title: "No", status, detail, errors } as unknown as ProblemBody);
const TAKEN = "a task named 'dup' exists already: choose another name, or edit or delete that one";
const about = (...fields: string[]) => fields.map((field) => ({ field, message: `bad ${field}` }));
const left = (field: string, sent: unknown, now: unknown) => standing(about(field), sent, now).length === 1;

describe("what a refusal says against fields", () => {
  it("is about the name when the name is taken", () => {
    expect(faultsIn(refused(409, TAKEN))).toEqual([{ field: "name", message: TAKEN }]);
  });

  it("is nothing when something else is in the way", () => {
    expect(faultsIn(refused(409, "task 3 is at version 4, not 2"))).toEqual([]);
    expect(faultsIn(refused(500, TAKEN))).toEqual([]);
    expect(faultsIn(null)).toEqual([]);
  });

  it("is what the server lists, when it does", () => {
    expect(faultsIn(refused(422, "no", about("schedule")))).toEqual(about("schedule"));
  });
});

describe("a fault stands while the value is what was sent", () => {
  const sent = { name: "a", payload: { steps: [{ sql: "x" }, { sql: "y" }], kind: "k" } };

  it("goes with a change at its own path only", () => {
    const now = { ...sent, payload: { ...sent.payload, steps: [{ sql: "x" }, { sql: "z" }] } };
    const faults = about("name", "payload.steps.0.sql", "payload.steps.1.sql", "payload.steps[1].sql", "payload.kind");
    expect(standing(faults, sent, now).map(({ field }) => field)).toEqual([
      "name",
      "payload.steps.0.sql",
      "payload.kind",
    ]);
  });

  it("comes back when the value does", () => {
    expect(left("name", sent, { ...sent, name: "b" })).toBe(false);
    expect(left("name", sent, { ...sent })).toBe(true);
  });

  it("goes with any change beneath it", () => {
    expect(left("payload", sent, { ...sent, payload: { ...sent.payload, kind: "other" } })).toBe(false);
    expect(left("", sent, { ...sent, name: "b" })).toBe(false);
  });

  it("about something missing goes once it is there", () => {
    expect(left("payload.table", sent, { ...sent, name: "b" })).toBe(true);
    expect(left("payload.table", sent, { ...sent, payload: { ...sent.payload, table: "t" } })).toBe(false);
  });

  it("of a path that names no key is about what is around that", () => {
    expect(left("payload.Variant.kind", sent, { ...sent, name: "b" })).toBe(true);
    expect(left("payload.Variant.kind", sent, { ...sent, payload: {} })).toBe(false);
    expect(left("name.0", sent, { ...sent, name: "b" })).toBe(false);
  });

  it("goes when what was around it is gone", () => {
    expect(left("payload.steps.1.sql", sent, { name: "a", payload: {} })).toBe(false);
  });
});

it("only a number leads to a thing", () => {
  expect(["7", "007", "0", "abc", "7abc", "-7", "9".repeat(16), undefined].map(idOf)).toEqual([
    7,
    ...Array<null>(7).fill(null),
  ]);
});
