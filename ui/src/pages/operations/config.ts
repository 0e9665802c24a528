// A configuration in the address, and the form that is drawn for it.
import { CHOICE, isRecord, type JsonSchema } from "../../parts/schema/shape";

export type Config = Record<string, unknown>;

export function readConfig(text: string | undefined): Config | null {
  if (!text) return null;
  try {
    const value: unknown = JSON.parse(text);
    return isRecord(value) ? value : null;
  } catch {
    return null; // somebody cut the address off
  }
}

export function writeConfig(config: Config): string {
  return JSON.stringify(config);
}

/** What is chosen rather than typed: a field of this name holds the name of a data source. */
const SOURCE = /(^|_)data_source$/;

export function sourceFields(schema: JsonSchema): string[] {
  return isRecord(schema.properties) ? Object.keys(schema.properties).filter((name) => SOURCE.test(name)) : [];
}

/** The schema with the data sources there are to choose from; a name that is none of them is shown as it is. */
export function withSources(schema: JsonSchema, names: readonly string[]): JsonSchema {
  if (!isRecord(schema.properties) || names.length === 0) return schema;
  const properties = { ...schema.properties };
  for (const name of sourceFields(schema)) {
    const given = properties[name];
    const own = isRecord(given) ? given : {};
    const empty = Array.isArray(own.anyOf) && own.anyOf.some((one) => isRecord(one) && one.type === "null");
    const said = { title: own.title, description: own.description };
    const choice = { enum: names, [CHOICE]: true };
    properties[name] = empty ? { ...said, anyOf: [choice, { type: "null" }] } : { ...said, ...choice };
  }
  return { ...schema, properties };
}

/** What the example sets is what the kind is about: it stands with what is needed, not among the settings that are folded. */
export function withExample(schema: JsonSchema, example: unknown): JsonSchema {
  if (!isRecord(schema.properties) || !isRecord(example)) return schema;
  const properties = Object.entries(schema.properties).map(([name, field]) => [
    name,
    name in example && isRecord(field) ? { ...field, "x-shown": true } : field,
  ]);
  return { ...schema, properties: Object.fromEntries(properties) as Record<string, unknown> };
}

/** What was asked for, as short as it can be said: "table: orders", "where: paid". */
export function meantOf(config: Config): string[] {
  return Object.entries(config).map(([name, value]) => {
    const text = typeof value === "string" ? value : JSON.stringify(value);
    return `${name}: ${text}`;
  });
}

/** What a form begins with: the example, on a data source that exists. */
export function exampleOf(example: unknown, names: readonly string[]): Config {
  return { ...firstOf(names), ...(isRecord(example) ? known(example, names) : {}) };
}

/** Where there is only one to work on, it is meant. */
export function firstOf(names: readonly string[]): Config {
  return names.length === 1 ? { data_source: names[0] } : {};
}

function known(example: Config, names: readonly string[]): Config {
  const kept = Object.entries(example).filter(
    ([name, value]) => !SOURCE.test(name) || (typeof value === "string" && names.includes(value)),
  );
  return Object.fromEntries(kept);
}
