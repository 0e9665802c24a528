// What the audit speaks of, and where it can be seen.
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
  "remove",
  "refuse",
] as const;

export type Place = { to: string; search?: Record<string, string> };

/** Where a thing is shown; null for what has no page of its own. A refusal may name what never was. */
export function placeOf(type: string, id: string | null): Place | null {
  const number = id !== null && /^\d+$/.test(id) ? id : null;
  switch (type) {
    case "task":
      return number === null ? null : { to: `/tasks/${number}` };
    case "instance":
    case "operation": // kept under the number of its instance
      return number === null ? null : { to: `/instances/${number}` };
    case "group":
    case "executor":
      return { to: "/executors" };
    case "pause":
    case "maintenance-window":
      return { to: "/pauses" };
    case "calendar":
      return { to: "/calendar" };
    case "data-source":
      return { to: "/data-sources" };
    case "alert-rule":
      return { to: "/alerts", search: { tab: "rules", ...(number === null ? {} : { rule: number }) } };
    case "user":
      return { to: "/access" };
    case "token":
      return { to: "/access", search: { tab: "tokens" } };
    case "session":
      return { to: "/access", search: { tab: "sessions" } };
    default:
      return null;
  }
}

type Wanted = {
  resource_type?: string;
  resource_id?: string;
  user_id?: string;
  action?: string;
  result?: "done" | "refused";
  from?: string;
  to?: string;
};

/** The address's filters as the server takes them: an id without a type is refused there, so it is not asked for. */
export function wantedOf(filters: Record<string, string>): Wanted {
  const { type, id, who, action, result, from, to } = filters;
  return {
    ...(type ? { resource_type: type } : {}),
    ...(type && id ? { resource_id: id } : {}),
    ...(who ? { user_id: who } : {}),
    ...(action ? { action } : {}),
    ...(result === "done" || result === "refused" ? { result } : {}),
    ...(from ? { from } : {}),
    ...(to ? { to } : {}),
  };
}
