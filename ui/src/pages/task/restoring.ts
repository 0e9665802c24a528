// An old definition, made into a change of what the task is now.
import type { components } from "../../api/schema";
import { changesBetween } from "../../parts/diff";
import type { Task } from "./about";

type Definition = components["schemas"]["TaskDefinition"];

/** Only what differs: the server keeps the rest. Who manages it is not a matter of versions. */
export function restoring(definition: Definition, task: Task): Partial<Definition> {
  const old = definition as Record<string, unknown>;
  const now = task as unknown as Record<string, unknown>;
  const fields = Object.keys(old).filter(
    (name) => name !== "managed_by" && changesBetween({ it: now[name] }, { it: old[name] }).length > 0,
  );
  return Object.fromEntries(fields.map((name) => [name, old[name]]));
}
