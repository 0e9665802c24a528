// The fields of a kind in the reader's language: the server describes them in English, and each is known by its name.
import { isRecord, type JsonSchema } from "../../parts/schema/shape";

export type FieldWords = { label: string; help: string };

/** The schema with the words there are for its fields, and for those of the things in it; else as the server says it. */
export function worded(schema: JsonSchema, wordsOf: (field: string) => FieldWords | undefined): JsonSchema {
  const said = { ...schema };
  if (isRecord(schema.properties)) {
    said.properties = all(schema.properties, (name, given) => {
      const words = wordsOf(name);
      return words === undefined || !isRecord(given)
        ? given
        : { ...given, title: words.label, description: words.help };
    });
  }
  if (isRecord(schema.$defs)) {
    said.$defs = all(schema.$defs, (_, one) => (isRecord(one) ? worded(one, wordsOf) : one));
  }
  return said;
}

function all(given: Record<string, unknown>, say: (name: string, one: unknown) => unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(given).map(([name, one]) => [name, say(name, one)]));
}
