// What an operation's preview and its end say, put into words and figures.
import { describe, expect, it } from "vitest";

import { exampleOf, meantOf, readConfig, withExample, withSources } from "../src/pages/operations/config";
import { worded } from "../src/pages/operations/fields";
import { bytesOf, factsOf } from "../src/pages/operations/figures";
import { grouped, groupOf, type Kind, type Shown } from "../src/pages/operations/kinds";
import {
  destroying,
  hindrances,
  locksOf,
  phasesOf,
  stepsOf,
  stopsOf,
  type Preview,
  type Statement,
} from "../src/pages/operations/plan";
import { shapeOf, type JsonSchema } from "../src/parts/schema/shape";
import { asksAgain, editOf, first, newOf, type Source } from "../src/pages/sources/saving";

const STATEMENT: Statement = {
  step: "swap",
  phase: "swap",
  sql: "SELECT 1",
  side: "source",
  lock: null,
  duration: "moment",
  transaction: true,
  cancellable: true,
  destructive: false,
  rows: null,
  bytes: null,
  disk_bytes: null,
};
const statement = (change: Partial<Statement>) => ({ ...STATEMENT, ...change });

describe("the plan", () => {
  it("has the statements of a step together", () => {
    const steps = stepsOf([
      statement({ step: "one", sql: "A" }),
      statement({ step: "one", sql: "B" }),
      statement({ step: "two", sql: null }),
    ]);
    expect(steps.map(({ number, step, sql }) => [number, step, sql])).toEqual([
      [1, "one", ["A", "B"]],
      [2, "two", []],
    ]);
  });

  it.each([
    [null, "nobody"],
    ["ACCESS EXCLUSIVE on public.orders, for a moment", "everybody"],
    ["an exclusive metadata lock on orders for a moment", "everybody"],
    ["SHARE ROW EXCLUSIVE on orders, for a moment: reads go on", "writers"],
    ["the file, for writers", "writers"],
    ["SHARE UPDATE EXCLUSIVE on orders: reads and writes go on", "nobody"],
    ["ROW SHARE on orders_2025_06, and its rows a chunk at a time: reads go on", "rows"],
    ["ROW EXCLUSIVE on public.orders, and each chunk's rows until it is committed", "rows"],
    ["EXCLUSIVE on all of orders while the rows of p1 are copied: reads go on", "writers"],
    ["something else", "unknown"],
  ] as const)("says who waits for %s", (lock, stops) => {
    expect(stopsOf(lock)).toBe(stops);
  });

  it("names each lock once, the strongest first, by the step that holds it longest", () => {
    const locks = locksOf(
      stepsOf([
        statement({ step: "copy", lock: "ROW SHARE on t" }),
        statement({ step: "index", lock: "SHARE on t" }),
        statement({ step: "load", lock: "SHARE on t", duration: "by size" }),
        statement({ step: "swap", lock: "ACCESS EXCLUSIVE on t" }),
      ]),
    );
    expect(locks.map(({ step }) => step.step)).toEqual(["swap", "load", "copy"]);
  });

  it("deletes by those steps of which the server says so, whatever their statements look like", () => {
    const steps = stepsOf([
      statement({ step: "swap", sql: 'DROP TABLE "empty"' }),
      statement({ step: "gone", sql: "CALL tidy()", destructive: true }),
      statement({ step: "gone", sql: "SELECT 1", destructive: true }),
    ]);
    expect(destroying(steps).map(({ step }) => step)).toEqual(["gone"]);
  });

  it("deletes by a step that has the name of the harmless one before it", () => {
    const steps = stepsOf([statement({ step: "tidy" }), statement({ step: "tidy", destructive: true })]);
    expect(destroying(steps).map(({ step }) => step)).toEqual(["tidy"]);
  });

  it("is hindered for certain only by what was looked for at the database", () => {
    const preconditions = [
      { name: "ownership", ok: false, detail: "", side: "source" as const },
      { name: "output_dir", ok: false, detail: "", side: "executor" as const },
      { name: "version", ok: true, detail: "", side: "source" as const },
    ];
    const { certain, perhaps } = hindrances({ preconditions } as unknown as Preview);
    expect([certain.map(({ name }) => name), perhaps.map(({ name }) => name)]).toEqual([["ownership"], ["output_dir"]]);
  });

  it("has its phases in order, and which one it is in", () => {
    const args = {
      plan: { steps: [{ phase: "prepare" }, { phase: "prepare" }, { phase: "copy" }, { phase: "swap" }] },
    };
    expect(phasesOf(args, "copy", false).map(({ name, state }) => `${name} ${state}`)).toEqual([
      "prepare done",
      "copy now",
      "swap ahead",
    ]);
    expect(phasesOf(args, "swap", true).every(({ state }) => state === "done")).toBe(true);
    expect(phasesOf(null, "copy", false)).toEqual([]);
  });
});

describe("fields", () => {
  it("have the reader's words by their names, also within things, and else the server's", () => {
    const schema = {
      properties: { table: { type: "string", description: "The table." }, odd: { description: "Odd." } },
      $defs: { Step: { properties: { sql: { type: "string", description: "A statement." } } } },
    };
    const words = (name: string) => (name === "odd" ? undefined : { label: `${name}!`, help: `${name}?` });
    expect(worded(schema, words)).toEqual({
      properties: { table: { type: "string", title: "table!", description: "table?" }, odd: { description: "Odd." } },
      $defs: { Step: { properties: { sql: { type: "string", title: "sql!", description: "sql?" } } } },
    });
  });
});

describe("figures", () => {
  it("are sizes as people read them", () => {
    expect([0, 1_023, 1_024, 319_488, 5_368_709_120].map(bytesOf)).toEqual([
      "0 B",
      "1023 B",
      "1 KiB",
      "312 KiB",
      "5 GiB",
    ]);
  });

  it("are what a summary says, without what is told elsewhere", () => {
    const { facts, rest } = factsOf({
      rows: 1_642,
      bytes_before: 2_048,
      files: ["a", "b"],
      nothing: null,
      undo: { kind: "merge" },
      undo_boundary: "x",
      plan_hash: "x",
      parts: [{ deep: true }],
    });
    expect(facts).toEqual([
      { name: "rows", text: "1,642" },
      { name: "bytes before", text: "2 KiB" },
      { name: "files", text: "a, b" },
    ]);
    expect(rest).toEqual({ parts: [{ deep: true }] });
  });
});

describe("kinds", () => {
  const shown = (name: string, number: number | null): Shown => ({
    kind: { name, number, title: `Title of ${name}`, description: "" } as Kind,
    title: `Title of ${name}`,
    about: "",
  });

  it("are grouped by number, and those of other packages come last", () => {
    expect([10, 33, 52, 72, 90, 170, null].map(groupOf)).toEqual([
      "partitions",
      "archive",
      "cleanup",
      "upkeep",
      "own",
      "added",
      "added",
    ]);
    const groups = grouped([shown("vacuum", 170), shown("split", 11), shown("add", 10)], "title");
    expect(groups.map(({ name, kinds }) => [name, kinds.map(({ kind }) => kind.name)])).toEqual([
      ["partitions", ["add", "split"]],
      ["added", ["vacuum"]],
    ]);
    expect(grouped([shown("split", 11)], "split nothing")).toEqual([]);
  });
});

describe("a configuration", () => {
  it("is read from the address, or is none", () => {
    expect(readConfig('{"table": "t"}')).toEqual({ table: "t" });
    expect([readConfig('{"tab'), readConfig("[1]"), readConfig(undefined)]).toEqual([null, null, null]);
  });

  it("chooses among the data sources there are", () => {
    const schema = {
      type: "object",
      properties: {
        data_source: { type: "string", minLength: 1, description: "Where" },
        target_data_source: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
        table: { type: "string" },
      },
    };
    expect(withSources(schema, [])).toBe(schema);
    const alone = withSources(schema, ["one"]);
    expect(shapeOf((alone.properties as Record<string, JsonSchema>).data_source ?? {}, alone)).toMatchObject({
      is: "choice",
      values: ["one"],
    });
    expect(withSources(schema, ["one", "two"]).properties).toEqual({
      data_source: { description: "Where", title: undefined, enum: ["one", "two"], "x-choice": true },
      target_data_source: {
        title: undefined,
        description: undefined,
        anyOf: [{ enum: ["one", "two"], "x-choice": true }, { type: "null" }],
      },
      table: { type: "string" },
    });
  });

  it("begins with the example, on a data source that exists", () => {
    const example = { data_source: "shop", table: "orders" };
    expect(exampleOf(example, ["books"])).toEqual({ data_source: "books", table: "orders" });
    expect(exampleOf(example, ["books", "shop"])).toEqual(example);
    expect(exampleOf(example, ["books", "toys"])).toEqual({ table: "orders" });
  });
});

describe("a data source", () => {
  const source: Source = {
    id: 3,
    name: "shop",
    dialect: "postgresql",
    host: "db",
    port: 5432,
    database: "shop",
    username: "hourhand",
    options: { sslmode: "require" },
    url: "postgresql://hourhand@db:5432/shop",
    has_password: true,
    created_at: "",
    updated_at: "",
    created_by: "admin",
  };

  it("is sent with what was given, and nothing empty", () => {
    expect(newOf({ ...first(null), name: " a ", url: "sqlite:////a.db" })).toEqual({
      name: "a",
      test: true,
      url: "sqlite:////a.db",
    });
    expect(
      newOf({ ...first(null), by: "fields", name: "a", dialect: "sqlite", database: "/a.db", host: "old" }),
    ).toEqual({
      name: "a",
      test: true,
      dialect: "sqlite",
      database: "/a.db",
    });
  });

  it("is changed in what was changed, and keeps its password", () => {
    expect(editOf(source, { ...first(source), database: "books" })).toEqual({ test: true, database: "books" });
    expect(editOf(source, { ...first(source), password: "new" })).toEqual({ test: true, password: "new" });
    expect(editOf(source, { ...first(source), forget: true, name: "toys" })).toEqual({
      test: true,
      name: "toys",
      password: null,
    });
  });

  it("asks for the password again where it would go to another server", () => {
    expect(asksAgain(source, first(source))).toBe(false);
    expect(asksAgain(source, { ...first(source), host: "other" })).toBe(true);
    expect(asksAgain(source, { ...first(source), host: "other", password: "x" })).toBe(false);
    expect(asksAgain({ ...source, has_password: false }, { ...first(source), host: "other" })).toBe(false);
  });
});

it("is approved with the table and the condition in sight", () => {
  expect(meantOf({ table: "orders", where: "paid", key_columns: ["id"], dry_run: false })).toEqual([
    "table: orders",
    "where: paid",
    'key_columns: ["id"]',
    "dry_run: false",
  ]);
});

describe("what the example of a kind sets", () => {
  const schema = {
    properties: { table: { type: "string" }, older_than: { type: "string" }, sleep_ms: { type: "integer" } },
  };

  it("is shown, and the rest may be folded", () => {
    expect(withExample(schema, { table: "orders", older_than: "400d", strange: 1 }).properties).toEqual({
      table: { type: "string", "x-shown": true },
      older_than: { type: "string", "x-shown": true },
      sleep_ms: { type: "integer" },
    });
  });

  it("may be missing", () => {
    expect(withExample(schema, null)).toBe(schema);
  });
});
