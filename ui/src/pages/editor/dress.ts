// What the schemas of payloads do not say: labels in the reader's language, which texts are long, and which optional fields most people want.
import { isRecord, type JsonSchema } from "../../parts/schema/shape";

const FORMATS: Record<string, JsonSchema> = {
  "command.command": { format: "command-line" },
  "command.stdin": { format: "multiline" },
  "http.url": { format: "uri", examples: ["https://example.com/close"] },
  "http.method": { enum: ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"], "x-shown": true },
  "http.body": { format: "multiline" },
  "http.json": { "x-shown": true },
};

/** `say` answers with an empty text for what it has no words for. */
export function dress(type: string, schema: JsonSchema, say: (key: string) => string): JsonSchema {
  if (!isRecord(schema.properties)) return schema;
  const properties = Object.entries(schema.properties).map(([name, inner]) => {
    const title = say(`${type}.${name}.label`);
    const help = say(`${type}.${name}.help`);
    const own = isRecord(inner) ? inner : {};
    const said = { ...(title === "" ? {} : { title }), ...(help === "" ? {} : { description: help }) };
    return [name, { ...own, ...FORMATS[`${type}.${name}`], ...said }] as const;
  });
  return { ...schema, properties: Object.fromEntries(properties) };
}
