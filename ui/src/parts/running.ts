// What somebody wrote to run a task with, made into what the server takes.
import type { JsonSchema } from "./SchemaForm";

export type Args = Record<string, unknown>;

/** Whether a form can be drawn: some arguments are described. */
export function describes(schema: JsonSchema | null | undefined): schema is JsonSchema {
  const properties = schema?.properties;
  return typeof properties === "object" && properties !== null && Object.keys(properties).length > 0;
}

/** Arguments that the schema asks for and nobody has given. */
export function missingArgs(schema: JsonSchema | null | undefined, args: Args): string[] {
  const required = Array.isArray(schema?.required) ? (schema.required as unknown[]) : [];
  return required.filter((name): name is string => typeof name === "string" && args[name] === undefined);
}

/** An object, `null` for nothing, or why it is neither. */
export function readArgs(text: string): { args: Args | null } | { fault: "syntax" | "object"; detail: string } {
  if (text.trim() === "") return { args: null };
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (reason) {
    return { fault: "syntax", detail: reason instanceof Error ? reason.message : "" };
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { fault: "object", detail: "" };
  return { args: value as Args };
}
