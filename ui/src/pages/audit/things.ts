// What the audit speaks of, and what of it is asked for.
import { numberOf } from "../../parts/places";

export const THINGS = [
  "task",
  "instance",
  "operation",
  "group",
  "pause",
  "maintenance-window",
  "calendar",
  "data-source",
  "alert-rule",
  "user",
  "token",
  "session",
  "task_file",
  "secret-key",
  "demo",
  "request",
] as const;

export const ACTIONS = [
  "create",
  "edit",
  "delete",
  "run",
  "backfill",
  "cancel",
  "retry",
  "dispatch",
  "plan",
  "start",
  "apply",
  "test",
  "sign_in",
  "sign_out",
  "password",
  "rotate",
  "load",
  "stop",
  "remove",
  "access-token",
  "read",
  "verify",
  "refuse",
] as const;

type Wanted = {
  resource_type?: string;
  resource_id?: string;
  task_id?: number;
  user_id?: string;
  action?: string;
  result?: "done" | "refused";
  from?: string;
  to?: string;
};

/** The address's filters as the server takes them: an id without a type is refused there, so it is not asked for. */
export function wantedOf(filters: Record<string, string>): Wanted {
  const { type, id, task, who, action, result, from, to } = filters;
  const concerned = numberOf(task);
  return {
    ...(type ? { resource_type: type } : {}),
    ...(type && id && concerned === null ? { resource_id: id } : {}),
    ...(concerned === null ? {} : { task_id: concerned }),
    ...(who ? { user_id: who } : {}),
    ...(action ? { action } : {}),
    ...(result === "done" || result === "refused" ? { result } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
  };
}

/** How many pages are asked for by themselves before somebody is asked whether to look further. */
export const IN_VAIN = 20;

type Looked = { items: readonly unknown[]; pages: number; more: boolean; fetching: boolean };

/** Whether a screen is not full yet: a page may be short, or empty, and not be the last, for what is asked for is rare. */
export function isShort({ items, more }: Looked, screen: number): boolean {
  return more && items.length < screen;
}

/** Whether to ask for another page unasked; each look costs the server thousands of entries, so it has an end. */
export function goesOn(looked: Looked, screen: number, upTo: number): boolean {
  return isShort(looked, screen) && !looked.fetching && looked.pages < upTo;
}
