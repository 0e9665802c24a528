// Which entries of the audit are one thing's, and where all of them are listed.
import { changesBetween } from "./diff";

export type Audit = { type: string; id: number };

/** As the server takes it: a task's entries come with those of its instances, pauses and maintenance windows. */
export function askedOf({ type, id }: Audit): { task_id: number } | { resource_type: string; resource_id: string } {
  return type === "task" ? { task_id: id } : { resource_type: type, resource_id: String(id) };
}

/** The filters of the page that lists all of them. */
export function allOf({ type, id }: Audit): Record<string, string> {
  return type === "task" ? { task: String(id) } : { type, id: String(id) };
}

type Dated = { id: number; occurred_at: string };

/** Several lists as one. */
export function newestFirst<One extends Dated>(...lists: readonly (readonly One[])[]): One[] {
  return lists.flat().sort((a, b) => Date.parse(b.occurred_at) - Date.parse(a.occurred_at) || b.id - a.id);
}

/** Whether an entry is about something else that concerns the thing, such as an instance of a task. */
export function isOther(entry: { resource_type: string; resource_id: string | null }, { type, id }: Audit): boolean {
  return entry.resource_type !== type || entry.resource_id !== String(id);
}

const NAMED = 4;

/** The fields that were changed, by name, the first of them; what was made or deleted was changed as a whole. */
export function changedIn(entry: { before?: unknown; after?: unknown }, without: readonly string[]): string[] {
  if (entry.before == null || entry.after == null) return [];
  const paths = changesBetween(entry.before, entry.after).map(({ path }) => path);
  const named = paths.filter((path) => path !== "" && !without.includes(path));
  return named.length > NAMED ? [...named.slice(0, NAMED), "…"] : named;
}
