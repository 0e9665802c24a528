import { describe, expect, it } from "vitest";

import { labelOf, shapeOf, type JsonSchema } from "../src/parts/schema/shape";
import {
  asVariant,
  doubt,
  isInstant,
  moved,
  own,
  parsed,
  put,
  seed,
  under,
  variantOf,
} from "../src/parts/schema/values";

const is = (schema: JsonSchema, root = schema) => shapeOf(schema, root).is;
const PET: JsonSchema = {
  discriminator: { propertyName: "kind" },
  oneOf: [{ $ref: "#/$defs/Cat" }, { $ref: "#/$defs/Dog" }],
  $defs: {
    Cat: {
      type: "object",
      properties: { kind: { const: "cat", type: "string" }, lives: { type: "integer" }, name: { type: "string" } },
      required: ["kind"],
    },
    Dog: {
      type: "object",
      properties: { kind: { enum: ["dog"] }, name: { type: "string" } },
      required: ["kind", "name"],
    },
  },
};

describe("shapeOf", () => {
  it.each<[string, JsonSchema]>([
    ["text", { type: "string" }],
    ["number", { type: "integer" }],
    ["number", { type: ["number", "null"] }],
    ["flag", { type: "boolean" }],
    ["choice", { enum: ["a", "b"] }],
    ["choice", { anyOf: [{ const: 1 }, { const: 2 }] }],
    ["constant", { const: "a" }],
    ["list", { type: "array", items: { type: "string" } }],
    ["json", { type: "array", prefixItems: [{ type: "string" }], items: { type: "string" } }],
    ["record", { properties: { a: {} } }],
    ["map", { type: "object", additionalProperties: { type: "string" } }],
    ["map", { type: "object" }],
    ["variants", { anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }],
    ["variants", { type: ["string", "integer"] }],
    ["variants", PET],
    ["json", {}],
    ["json", { not: { type: "string" } }],
    ["json", { $ref: "#/$defs/gone" }],
    ["json", { $ref: "#" }],
  ])("%s", (shape, schema) => {
    expect(is(schema)).toBe(shape);
  });

  it("takes what is optional for what it is, with what stands beside it", () => {
    const shape = shapeOf(
      {
        anyOf: [{ type: "integer", minimum: 3 }, { type: "null" }],
        default: null,
        description: "how many",
        title: "N",
      },
      {},
    );
    expect(shape).toMatchObject({ is: "number", nullable: true, least: 3, help: "how many", title: "N" });
    expect(shape.fallback).toBeUndefined();
  });

  it("follows references, through allOf, and merges what they require", () => {
    const root: JsonSchema = {
      allOf: [{ $ref: "#/$defs/Base" }, { properties: { b: { type: "integer" } }, required: ["b"] }],
      $defs: { Base: { type: "object", properties: { a: { type: "string" } }, required: ["a"] } },
    };
    const shape = shapeOf(root, root);
    expect(shape.is === "record" && shape.entries.map(({ name, required }) => [name, required])).toEqual([
      ["a", true],
      ["b", true],
    ]);
  });

  it("writes secrets hidden and long texts over many lines", () => {
    expect(shapeOf({ type: "string", writeOnly: true, format: "uri" }, {})).toMatchObject({ format: "secret" });
    expect(shapeOf({ type: "string", maxLength: 100_000 }, {})).toMatchObject({ format: "long" });
    expect(shapeOf({ type: "string", maxLength: 128 }, {})).toMatchObject({ format: "plain" });
  });

  it("draws something that holds itself only as deep as it is asked", () => {
    const root: JsonSchema = { type: "object", properties: { next: { $ref: "#" } } };
    expect(is(root)).toBe("record");
  });
});

describe("variants", () => {
  const shape = shapeOf(PET, PET);
  if (shape.is !== "variants") throw new Error("PET is of variants");

  it("are told apart by what they are called", () => {
    expect(shape.variants.map((one) => one.label)).toEqual(["cat", "dog"]);
    expect(variantOf({ kind: "dog" }, shape, PET)).toBe(1);
    expect(variantOf({ kind: "fish" }, shape, PET)).toBe(-1);
  });

  it("keep what both have when one becomes the other", () => {
    const dog = shape.variants[1];
    expect(dog && asVariant({ kind: "cat", lives: 9, name: "Tom" }, dog, PET)).toEqual({ kind: "dog", name: "Tom" });
  });

  it("of a text or a list say the same in the other's words", () => {
    const schema = { anyOf: [{ type: "array", items: { type: "string" } }, { type: "string" }] };
    const command = shapeOf(schema, schema);
    if (command.is !== "variants") throw new Error("it is of variants");
    const [many, one] = command.variants;
    expect(variantOf("echo hi", command, schema)).toBe(1);
    expect(variantOf(["echo", "hi"], command, schema)).toBe(0);
    expect(one && asVariant(["echo", "hi"], one, schema)).toBe("echo hi");
    expect(many && asVariant("echo", many, schema)).toEqual(["echo"]);
  });
});

describe("values", () => {
  it("lose a key that has no value, and keep the place of one that has", () => {
    expect(put({ a: 1, b: 2 }, "a", undefined)).toEqual({ b: 2 });
    expect(Object.keys(put({ a: 1, b: 2 }, "a", 3))).toEqual(["a", "b"]);
    expect(put(undefined, "a", null)).toEqual({ a: null });
  });

  it("begin with their constants", () => {
    expect(seed({ $ref: "#/$defs/Cat" }, PET)).toEqual({ kind: "cat" });
    expect(seed({ type: "string" }, {})).toBeUndefined();
  });

  it("move within their list and never out of it", () => {
    expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
    expect(moved(["a", "b"], 0, -1)).toEqual(["a", "b"]);
    expect(moved(["a", "b"], 1, 2)).toEqual(["a", "b"]);
  });

  it("are nothing when their text is empty, and say where their JSON breaks", () => {
    expect(parsed("  ")).toEqual({ value: undefined });
    expect(parsed('{"a": [1]}')).toEqual({ value: { a: [1] } });
    expect(parsed("{a")).toHaveProperty("fault");
  });
});

describe("faults", () => {
  const faults = [
    { field: "config.steps.0.sql", message: "empty" },
    { field: "config[steps]", message: "too few" },
    { field: "config.stepz", message: "unknown" },
  ];

  it("come down to the field they are about", () => {
    const steps = under(under(faults, "config"), "steps");
    expect(steps).toEqual([
      { field: "0.sql", message: "empty" },
      { field: "", message: "too few" },
    ]);
    expect(under(steps, "0")).toEqual([{ field: "sql", message: "empty" }]);
  });

  it("of what has no field stay with what holds it", () => {
    expect(own(under(faults, "config"), ["steps"])).toEqual([{ field: "stepz", message: "unknown" }]);
  });
});

describe("doubt", () => {
  const number = (extra: JsonSchema) => shapeOf({ type: "integer", ...extra }, {});
  it.each([
    [5, number({ minimum: 10 }), "least"],
    [15, number({ maximum: 10 }), "most"],
    [0, number({ exclusiveMinimum: 0 }), "above"],
    [1.5, number({}), "whole"],
    ["25:00", shapeOf({ type: "string", pattern: "^([01][0-9]|2[0-3]):[0-5][0-9]$" }, {}), "pattern"],
    ["ab", shapeOf({ type: "string", minLength: 3 }, {}), "short"],
  ])("%s", (value, shape, word) => {
    expect(doubt(value, shape)?.word).toBe(word);
  });

  it("has none of a pattern that only the server understands", () => {
    expect(doubt("x", shapeOf({ type: "string", pattern: "(?P<a>y)" }, {}))).toBeNull();
  });
});

describe("labelOf", () => {
  it("says a name as people write, unless its author gave a title", () => {
    expect(labelOf("lock_timeout_ms", "Lock Timeout Ms")).toBe("Lock timeout ms");
    expect(labelOf("n", "How many")).toBe("How many");
    expect(labelOf("day", null)).toBe("Day");
    expect(labelOf("step", "CustomStep")).toBe("Step");
  });
});

describe("an instant", () => {
  it.each([
    ["2026-03-29T02:30:00+08:00", true],
    ["2026-03-29T02:30:00.5Z", true],
    ["2026-03-29T02:30:00", false], // whose?
    ["2026-03-29", false],
    ["${day}", false],
  ])("%s: %s", (text, is) => {
    expect(isInstant(text)).toBe(is);
  });
});
