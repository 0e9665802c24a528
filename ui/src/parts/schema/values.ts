// What becomes of a value when one of its fields is changed. A field without a value is absent.
import { constantOf, isRecord, resolved, shapeOf, without, type JsonSchema, type Shape, type Variant } from "./shape";

export type Fault = { field: string; message: string };
export type Path = readonly string[];

/** The faults of what lies beneath a name, with their paths from there. */
export function under(faults: readonly Fault[], name: string): Fault[] {
  return faults.flatMap((fault) => {
    const [first, ...rest] = steps(fault.field);
    return first === name ? [{ field: rest.join("."), message: fault.message }] : [];
  });
}

/** The faults of the thing itself, and of names that are not among the known ones: they have no field of their own. */
export function own(faults: readonly Fault[], known: readonly string[]): Fault[] {
  return faults.filter((fault) => {
    const first = steps(fault.field)[0];
    return first === undefined || !known.includes(first);
  });
}

export function steps(field: string): string[] {
  return field.split(/[.[\]]+/).filter((step) => step !== "");
}

export function put(value: unknown, name: string, next: unknown): Record<string, unknown> {
  const object = isRecord(value) ? value : {};
  // A key that is there keeps its place, so that the JSON does not jump about while somebody types.
  return next === undefined ? without(object, name) : { ...object, [name]: next };
}

export function moved<Item>(items: readonly Item[], from: number, to: number): Item[] {
  const left = [...items];
  const [taken] = left.splice(from, 1);
  if (taken !== undefined && to >= 0 && to <= left.length) left.splice(to, 0, taken);
  return to >= 0 && to <= left.length ? left : [...items];
}

/** What a thing begins with: constants are given, everything else is absent. */
export function seed(schema: JsonSchema, root: JsonSchema): unknown {
  const shape = shapeOf(schema, root);
  if (shape.is === "constant") return shape.value;
  if (shape.is === "record") {
    const marks = shape.entries
      .map(({ name, schema: inner }) => [name, constantOf(resolved(inner, root))] as const)
      .filter(([, value]) => value !== undefined);
    return Object.fromEntries(marks);
  }
  if (shape.is === "map") return {};
  if (shape.is === "list") return [];
  if (shape.is === "variants" && shape.variants[0] !== undefined) return seed(shape.variants[0].schema, root);
  return undefined;
}

/** Which of the variants a value is, or -1. */
export function variantOf(value: unknown, shape: Shape & { is: "variants" }, root: JsonSchema): number {
  if (value === undefined || value === null) return -1;
  const { by } = shape;
  if (by !== null && isRecord(value)) {
    return shape.variants.findIndex((one) => constantOf(propertiesOf(one)[by]) === value[by]);
  }
  const ranks = shape.variants.map((one) => likeness(value, one.schema, root));
  const best = Math.max(...ranks);
  return best > 0 ? ranks.indexOf(best) : -1;
}

function propertiesOf(variant: Variant): Record<string, unknown> {
  return isRecord(variant.schema.properties) ? variant.schema.properties : {};
}

/** 0: cannot be; 1: could be anything; 2 and more: the more of its keys are known, the better. */
function likeness(value: unknown, schema: JsonSchema, root: JsonSchema): number {
  const shape = shapeOf(schema, root);
  switch (shape.is) {
    case "text":
      return typeof value === "string" ? 2 : 0;
    case "number":
      return typeof value === "number" ? (shape.whole && !Number.isInteger(value) ? 0 : shape.whole ? 3 : 2) : 0;
    case "flag":
      return typeof value === "boolean" ? 2 : 0;
    case "choice":
      return shape.values.includes(value) ? 3 : 0;
    case "constant":
      return shape.value === value ? 3 : 0;
    case "list":
      return Array.isArray(value) ? 2 + (value.every((one) => likeness(one, shape.item, root) > 0) ? 1 : 0) : 0;
    case "map":
      return isRecord(value) ? 2 : 0;
    case "record": {
      if (!isRecord(value)) return 0;
      const names = new Set(shape.entries.map((entry) => entry.name));
      const known = Object.keys(value).filter((name) => names.has(name)).length;
      const missing = shape.entries.filter((entry) => entry.required && !(entry.name in value)).length;
      return Math.max(1.5, 2 + known - missing);
    }
    default:
      return 1;
  }
}

/** The same thing said as another variant, as far as it can be. */
export function asVariant(value: unknown, variant: Variant, root: JsonSchema): unknown {
  const shape = shapeOf(variant.schema, root);
  if (shape.is === "list" && typeof value === "string" && value !== "") return [value];
  if (shape.is === "text" && Array.isArray(value)) {
    const texts: unknown[] = value;
    return texts.length > 0 && texts.every((one) => typeof one === "string") ? texts.join(" ") : undefined;
  }
  if (shape.is === "text" && (typeof value === "number" || typeof value === "boolean")) return String(value);
  if (shape.is === "number" && typeof value === "string" && value.trim() !== "" && Number.isFinite(Number(value))) {
    return Number(value);
  }
  if (shape.is === "record" && isRecord(value)) {
    const names = new Set(shape.entries.map((entry) => entry.name));
    const kept = Object.entries(value).filter(([name]) => names.has(name));
    return { ...Object.fromEntries(kept), ...(seed(variant.schema, root) as Record<string, unknown>) };
  }
  return seed(variant.schema, root);
}

export type Doubt = {
  word: "least" | "most" | "above" | "below" | "whole" | "pattern" | "short" | "long";
  than?: string;
};

/** What the schema itself says against a scalar; the server has the last word, this only saves the way there. */
export function doubt(value: unknown, shape: Shape): Doubt | null {
  if (shape.is === "number" && typeof value === "number") {
    if (shape.whole && !Number.isInteger(value)) return { word: "whole" };
    if (shape.least !== null && value < shape.least) return { word: "least", than: grouped(shape.least) };
    if (shape.most !== null && value > shape.most) return { word: "most", than: grouped(shape.most) };
    if (shape.above !== null && value <= shape.above) return { word: "above", than: grouped(shape.above) };
    if (shape.below !== null && value >= shape.below) return { word: "below", than: grouped(shape.below) };
  }
  if (shape.is === "text" && typeof value === "string" && value !== "") {
    if (value.length < shape.least) return { word: "short", than: grouped(shape.least) };
    if (shape.most !== null && value.length > shape.most) return { word: "long", than: grouped(shape.most) };
    if (shape.pattern !== null && !fits(value, shape.pattern)) return { word: "pattern", than: shape.pattern };
  }
  return null;
}

function fits(text: string, pattern: string): boolean {
  try {
    return new RegExp(pattern, "u").test(text);
  } catch {
    return true; // a pattern of another dialect is the server's to check
  }
}

function grouped(value: number): string {
  return value.toLocaleString("en-US", { maximumFractionDigits: 20 });
}

/** The parsed text, or what is wrong with it. An empty text is no value. */
export function parsed(text: string): { value: unknown } | { fault: string } {
  if (text.trim() === "") return { value: undefined };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (reason) {
    return { fault: reason instanceof Error ? reason.message : String(reason) };
  }
}

/** Whether a text is an instant to everybody: without an offset it would be another one on every clock. */
export function isInstant(text: string): boolean {
  return /^\d{4}-\d\d-\d\dt.*(z|[+-]\d\d:\d\d)$/i.test(text) && !Number.isNaN(Date.parse(text));
}
