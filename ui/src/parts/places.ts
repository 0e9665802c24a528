// Where the things that the audit speaks of are shown.
export type Place = { to: string; search?: Record<string, string> };

/** Where a thing is shown; null for what has no page of its own. A refusal may name what never was. */
export function placeOf(type: string, id: string | null): Place | null {
  const number = id !== null && numberOf(id) !== null ? id : null;
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
      return { to: "/pauses" };
    case "maintenance-window":
      return { to: "/pauses", search: { tab: "windows" } };
    case "calendar": // of holidays; the page of that name is about load
      return { to: "/pauses", search: { tab: "calendars", ...(number === null ? {} : { calendar: number }) } };
    case "data-source":
      return { to: "/data-sources", ...(number === null ? {} : { search: { source: number } }) };
    case "alert-rule":
      return { to: "/alerts", search: { tab: "rules", ...(number === null ? {} : { rule: number }) } };
    case "user":
      return { to: "/access", ...(number === null ? {} : { search: { user: number } }) };
    case "token":
      return { to: "/access", search: { tab: "tokens" } };
    case "session":
      return { to: "/access", search: { tab: "sessions" } };
    default:
      return null;
  }
}

/** The number that an address names something by; null for what can be none. */
export function numberOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}
