// What the address asks for, in the words of the server.
import type { components, operations } from "../../api/schema";
import { instantOf } from "../../parts/period";
import type { StatusWord } from "../../parts/Status";
import type { Filters } from "../../state/url";

export type Wanted = Omit<NonNullable<operations["list_instances"]["parameters"]["query"]>, "cursor" | "limit">;
export type Choice = components["schemas"]["InstanceChoice"];
export type Action = "retry" | "cancel";

export const STATUSES: readonly StatusWord[] = ["failed", "running", "pending", "planned", "success", "cancelled"];
export const TYPES = ["command", "http", "python", "operation", "xxl"] as const;
export const TRIGGERS = ["scheduler", "manual", "api", "dependency", "backfill"] as const;
const TEXTS = ["q", "exclude", "owner", "group", "executor_id", "args", "error"] as const;
const NUMBERS = ["task_id", "data_source_id"] as const;
/** The parameters of the address that decide which instances are listed. */
export const NAMES = ["status", "type", "triggered_by", "from", "to", ...TEXTS, ...NUMBERS] as const;

/** Only what is set is sent; what no instance could have is left out, as if the address did not say it. */
export function wantedBy(filters: Filters, now: number): Wanted {
  const wanted: Wanted = {
    status: STATUSES.find((one) => one === filters.status),
    type: TYPES.find((one) => one === filters.type),
    triggered_by: TRIGGERS.find((one) => one === filters.triggered_by),
    from: instantOf(filters.from, now),
    to: instantOf(filters.to, now),
  };
  for (const name of TEXTS) if (filters[name]) wanted[name] = filters[name];
  for (const name of NUMBERS) if (/^[1-9]\d{0,15}$/.test(filters[name] ?? "")) wanted[name] = Number(filters[name]);
  return Object.fromEntries(Object.entries(wanted).filter(([, value]) => Boolean(value)));
}

/** The same for many at once; to mean really all of them must be said. */
export function choiceOf(wanted: Wanted): Choice {
  const choice = { ...wanted } as Choice;
  return Object.keys(wanted).length === 0 ? { ...choice, all: true } : choice;
}

/** Whether an action can do anything to those that are listed. */
export function suits(action: Action, wanted: Wanted): boolean {
  const { status } = wanted;
  if (action === "retry") return status === undefined || status === "failed" || status === "cancelled";
  const lives = status === undefined || status === "running" || status === "pending" || status === "planned";
  return lives && wanted.error === undefined;
}

/** What the examples of an action are to be listed by. */
export function examplesOf(action: Action, wanted: Wanted): Wanted {
  return action === "retry" && wanted.status === undefined ? { ...wanted, status: "failed" } : wanted;
}

export function canRetry(row: components["schemas"]["Instance"]): boolean {
  return (row.status === "failed" || row.status === "cancelled") && row.skip_reason === null;
}

export function canCancel(row: components["schemas"]["Instance"]): boolean {
  return row.end_time === null && !row.cancel_requested;
}
