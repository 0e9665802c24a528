// What the address asks for, as the list and what changes many at once take it.
import type { components } from "../../api/schema";
import type { Filters } from "../../state/url";

export type TaskType = components["schemas"]["TaskType"];
export const TYPES: readonly TaskType[] = ["command", "http", "python", "operation", "xxl"];
const TEXTS = ["q", "exclude", "owner", "tag", "group"] as const;

export type TaskQuery = Partial<Record<(typeof TEXTS)[number], string>> & { type?: TaskType; enabled?: boolean };

/** A word that no filter knows is left out: an address may be older than this page. */
export function queryOf(filters: Filters): TaskQuery {
  const query: TaskQuery = {};
  for (const name of TEXTS) {
    const text = filters[name]?.trim();
    if (text) query[name] = text;
  }
  const type = TYPES.find((one) => one === filters.type);
  if (type) query.type = type;
  if (filters.enabled === "true" || filters.enabled === "false") query.enabled = filters.enabled === "true";
  return query;
}

export function isEverything(query: TaskQuery): boolean {
  return Object.keys(query).length === 0;
}

export type BulkAction = components["schemas"]["TasksInput"]["action"];

/** What can be done with all that fit: those that are enabled already cannot be enabled. */
export function actionsFor(query: TaskQuery): BulkAction[] {
  const all: BulkAction[] = ["enable", "disable", "delete"];
  return all.filter(
    (action) => query.enabled === undefined || (action === "enable") !== query.enabled || action === "delete",
  );
}

/** Which tasks, for the server; it wants to be told when everything is meant. `enabled` it knows from the action. */
export function choiceOf(query: TaskQuery): components["schemas"]["TaskChoice"] {
  return { ...query, all: isEverything(query) };
}
