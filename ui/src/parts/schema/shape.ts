// What to draw for a JSON Schema: the many ways to write the same thing become one of a few shapes.
export type JsonSchema = Record<string, unknown>;

type Common = {
  title: string | null;
  help: string | null;
  /** What holds when nothing is given; shown, never written into the value. */
  fallback: unknown;
  example: string | null;
  nullable: boolean;
};
export type Entry = { name: string; schema: JsonSchema; required: boolean };
export type TextFormat = "plain" | "long" | "date" | "date-time" | "time" | "uri" | "secret";
export type Variant = { label: string | null; kind: Shape["is"]; schema: JsonSchema };
export type Shape = Common &
  (
    | { is: "text"; format: TextFormat; least: number; most: number | null; pattern: string | null }
    | {
        is: "number";
        whole: boolean;
        least: number | null;
        most: number | null;
        above: number | null;
        below: number | null;
      }
    | { is: "flag" }
    | { is: "choice"; values: readonly unknown[] }
    | { is: "constant"; value: unknown }
    | { is: "list"; item: JsonSchema; least: number; most: number | null }
    | { is: "record"; entries: readonly Entry[]; others: JsonSchema | null }
    | { is: "map"; value: JsonSchema | null }
    | { is: "command" }
    | { is: "variants"; variants: readonly Variant[]; by: string | null }
    | { is: "json" }
  );

/** The schema that a reference leads to, with what stands beside the reference, and `allOf`s merged. */
export function resolved(schema: JsonSchema, root: JsonSchema): JsonSchema {
  let found = schema;
  // A reference that leads back to itself is a fault of its author; it must not hang the page.
  for (let step = 0; step < 20; step += 1) {
    const { $ref, allOf, ...beside } = found;
    if (typeof $ref === "string") found = { ...target($ref, root), ...beside };
    else if (Array.isArray(allOf)) found = merged([...allOf.filter(isRecord), beside], root);
    else return found;
  }
  return {};
}

function target(reference: string, root: JsonSchema): JsonSchema {
  if (!reference.startsWith("#")) return {};
  let at: unknown = root;
  for (const part of reference.slice(1).split("/").filter(Boolean)) {
    at = isRecord(at) ? at[decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")] : undefined;
  }
  return isRecord(at) ? at : {};
}

function merged(parts: readonly JsonSchema[], root: JsonSchema): JsonSchema {
  let whole: JsonSchema = {};
  for (const part of parts) {
    const next = resolved(part, root);
    const properties = { ...record(whole.properties), ...record(next.properties) };
    const required = [...list(whole.required), ...list(next.required)];
    whole = { ...whole, ...next };
    if (Object.keys(properties).length > 0) whole.properties = properties;
    if (required.length > 0) whole.required = required;
  }
  return whole;
}

export function shapeOf(given: JsonSchema, root: JsonSchema): Shape {
  let schema = resolved(given, root);
  const types = Array.isArray(schema.type) ? (schema.type as string[]) : null;
  let nullable = false;
  if (types !== null) {
    nullable = types.includes("null");
    const rest = types.filter((type) => type !== "null");
    schema = rest.length === 1 ? { ...schema, type: rest[0] } : { ...schema, type: undefined };
    if (rest.length > 1) schema.anyOf = rest.map((type) => ({ type }));
  }
  if (schema.format === "command-line") return { ...common(schema, nullable), is: "command" };
  const options = variantsOf(schema);
  if (options !== null) {
    const some = options.filter((option) => !isNull(resolved(option, root)));
    nullable ||= some.length < options.length;
    const beside = without(schema, "anyOf", "oneOf");
    if (some.length === 1 && some[0] !== undefined) {
      const inner = shapeOf({ ...resolved(some[0], root), ...beside }, root);
      return { ...inner, nullable: true };
    }
    if (some.length > 1) return { ...common(schema, nullable), ...variants(some, schema, root) };
  }
  return { ...common(schema, nullable), ...bare(schema) };
}

function common(schema: JsonSchema, nullable: boolean): Common {
  const examples = list(schema.examples);
  const example = examples[0] ?? schema.example;
  return {
    title: typeof schema.title === "string" ? schema.title : null,
    help: typeof schema.description === "string" ? schema.description : null,
    fallback: schema.default ?? undefined,
    example: example === undefined ? null : written(example),
    nullable,
  };
}

type Bare<S> = S extends Shape ? Omit<S, keyof Common> : never;

/** Says of an enum that it is to be chosen from even if there is one value alone, which else is a constant. */
export const CHOICE = "x-choice";

function bare(schema: JsonSchema): Bare<Shape> {
  if ("const" in schema) return { is: "constant", value: schema.const };
  if (Array.isArray(schema.enum)) {
    const values: unknown[] = schema.enum;
    return values.length === 1 && schema[CHOICE] !== true
      ? { is: "constant", value: values[0] }
      : { is: "choice", values };
  }
  switch (schema.type) {
    case "string":
      return {
        is: "text",
        format: formatOf(schema),
        least: number(schema.minLength) ?? 0,
        most: number(schema.maxLength),
        pattern: typeof schema.pattern === "string" ? schema.pattern : null,
      };
    case "integer":
    case "number":
      return {
        is: "number",
        whole: schema.type === "integer",
        least: number(schema.minimum),
        most: number(schema.maximum),
        above: number(schema.exclusiveMinimum),
        below: number(schema.exclusiveMaximum),
      };
    case "boolean":
      return { is: "flag" };
    case "array":
      // A tuple has a schema for each place, which a list of equals cannot show.
      if (!isRecord(schema.items) || Array.isArray(schema.prefixItems)) return { is: "json" };
      return { is: "list", item: schema.items, least: number(schema.minItems) ?? 0, most: number(schema.maxItems) };
    default:
      return schema.type === "object" || isRecord(schema.properties) ? object(schema) : { is: "json" };
  }
}

function object(schema: JsonSchema): Bare<Shape> {
  const properties = record(schema.properties);
  const required = new Set(list(schema.required));
  const others = schema.additionalProperties;
  const more = isRecord(others) ? others : others === true ? {} : null;
  const names = Object.keys(properties);
  if (names.length === 0)
    return others === false ? { is: "json" } : { is: "map", value: isRecord(others) ? others : null };
  return {
    is: "record",
    entries: names.map((name) => ({ name, schema: record(properties[name]), required: required.has(name) })),
    others: more,
  };
}

function variantsOf(schema: JsonSchema): JsonSchema[] | null {
  const options = schema.anyOf ?? schema.oneOf;
  // Options beside properties only say which of them go together; the properties are what is drawn.
  if (!Array.isArray(options) || isRecord(schema.properties)) return null;
  return options.filter(isRecord);
}

function variants(some: readonly JsonSchema[], schema: JsonSchema, root: JsonSchema): Bare<Shape> {
  const whole = some.map((option) => resolved(option, root));
  if (whole.every((option) => "const" in option)) return { is: "choice", values: whole.map((option) => option.const) };
  const named = record(schema.discriminator).propertyName;
  const by = typeof named === "string" ? named : sharedConstant(whole);
  return {
    is: "variants",
    by,
    variants: whole.map((option) => {
      const mark = by === null ? undefined : constantOf(record(option.properties)[by]);
      const label = mark !== undefined ? written(mark) : typeof option.title === "string" ? option.title : null;
      return { label, kind: shapeOf(option, root).is, schema: option };
    }),
  };
}

/** The property whose constant tells the options apart, where nobody named one. */
function sharedConstant(options: readonly JsonSchema[]): string | null {
  const names = Object.keys(record(options[0]?.properties));
  return (
    names.find((name) => options.every((option) => constantOf(record(option.properties)[name]) !== undefined)) ?? null
  );
}

export function constantOf(schema: unknown): unknown {
  if (!isRecord(schema)) return undefined;
  if ("const" in schema) return schema.const;
  if (schema[CHOICE] === true) return undefined;
  return Array.isArray(schema.enum) && schema.enum.length === 1 ? (schema.enum[0] as unknown) : undefined;
}

const LONG = 1_000;
const LONG_FORMATS = new Set(["multiline", "textarea", "sql", "text", "markdown"]);

function formatOf(schema: JsonSchema): TextFormat {
  const format = typeof schema.format === "string" ? schema.format : "";
  if (schema.writeOnly === true || format === "password") return "secret";
  if (format === "date" || format === "date-time" || format === "time") return format;
  if (format === "uri" || format === "url") return "uri";
  const most = number(schema.maxLength);
  const long = LONG_FORMATS.has(format) || schema.contentMediaType !== undefined || (most !== null && most > LONG);
  return long ? "long" : "plain";
}

/** "lock_timeout_ms" as a person would write it, unless its author gave a title. */
export function labelOf(name: string, title: string | null): string {
  const spaced = name.replaceAll(/[_-]+/g, " ").trim();
  // Pydantic makes a title of every name and class; such a one says nothing that the name does not.
  const automatic =
    title === null || title.toLowerCase() === spaced.toLowerCase() || /^(?:[A-Z][a-z0-9]+){2,}$/.test(title);
  const text = automatic ? spaced : title;
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** A value as one short text. */
export function written(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

export function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function without(given: Record<string, unknown>, ...names: string[]): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).filter(([name]) => !names.includes(name)));
}

function isNull(schema: JsonSchema): boolean {
  return schema.type === "null" || ("const" in schema && schema.const === null);
}

function record(value: unknown): Record<string, unknown> & JsonSchema {
  return isRecord(value) ? value : {};
}

function list(value: unknown): unknown[] {
  return Array.isArray(value) ? value : [];
}

function number(value: unknown): number | null {
  return typeof value === "number" ? value : null;
}
