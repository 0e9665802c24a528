// What is being written: every field that people write, with the defaults of the server.
import type { components, paths } from "../../api/schema";

export type Task = components["schemas"]["Task"];
type Written = paths["/api/v1/tasks"]["post"]["requestBody"]["content"]["application/json"];
export type Change = paths["/api/v1/tasks/{task_id}"]["patch"]["requestBody"]["content"]["application/json"];
export type Draft = Omit<Required<Written>, "managed_by">;
export type FieldName = keyof Draft;

export const DEFAULTS: Draft = {
  name: "",
  type: "command",
  schedule: "@manual",
  payload: {},
  description: null,
  enabled: true,
  group: "default",
  timezone: "UTC",
  priority: 5,
  timeout_seconds: null,
  max_retries: null,
  retry_delay_seconds: 10,
  retry_backoff: "exponential",
  misfire_policy: "fire_once",
  misfire_grace_seconds: 60,
  catch_up_limit: 100,
  overlap_policy: "skip",
  dependency_ids: [],
  dependency_mode: "all",
  upstream_failure_policy: "wait",
  dependency_timeout_seconds: 86_400,
  executor_loss_policy: "requeue",
  broadcast: false,
  concurrency_key: null,
  concurrency_limit: 1,
  executor_labels: {},
  args_schema: null,
  owner: null,
  tags: [],
};
export const FIELDS = Object.keys(DEFAULTS) as FieldName[];

export function draftOf(task: Task): Draft {
  return Object.fromEntries(FIELDS.map((name) => [name, task[name]])) as Draft;
}

/** A new one like another: under another name, and asleep until somebody has looked at it. */
export function copyOf(task: Task): Draft {
  return { ...draftOf(task), name: `${task.name}-copy`, enabled: false };
}

/** A new one that runs after another, by the same clock and in the same group. */
export function afterOf({ id, group, timezone }: Task): Draft {
  return { ...fresh(timezone), group, schedule: "@upstream", dependency_ids: [id] };
}

/** A new one begins by the clock of whoever writes it. */
export function fresh(zone: string): Draft {
  return { ...DEFAULTS, timezone: zone };
}

/** One that another page has begun: of which type, and to do what. A payload that is no JSON object is left out. */
export function begun(zone: string, type: string | undefined, payload: string | undefined): Draft {
  const draft = fresh(zone);
  if (type !== "command" && type !== "http" && type !== "python" && type !== "operation") return draft;
  try {
    const given: unknown = JSON.parse(payload ?? "{}");
    const whole = typeof given === "object" && given !== null && !Array.isArray(given);
    return { ...draft, type, payload: whole ? (given as Draft["payload"]) : {} };
  } catch {
    return { ...draft, type };
  }
}

export function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(ordered(one)) === JSON.stringify(ordered(other));
}

/** Keys have no order; lists have. */
function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, inner]) => [key, ordered(inner)]),
  );
}

export function differing(one: Draft, other: Draft, names: readonly FieldName[] = FIELDS): FieldName[] {
  return names.filter((name) => !same(one[name], other[name]));
}

/** What was changed, and nothing else: what others change meanwhile is theirs. */
export function changes(before: Draft, after: Draft): Partial<Draft> {
  return Object.fromEntries(differing(before, after).map((name) => [name, after[name]]));
}

/** What a new task is made of: what is as by default is left to the server. */
export function bodyOf(draft: Draft): Written {
  return { ...changes(DEFAULTS, draft), name: draft.name, type: draft.type, payload: draft.payload };
}

export type Clash = { name: FieldName; base: unknown; theirs: unknown; mine: unknown; both: boolean };

/** Where theirs and mine are not the same, and whether both of us changed it. */
export function clashes(base: Draft, theirs: Draft, mine: Draft): Clash[] {
  return differing(theirs, mine).map((name) => ({
    name,
    base: base[name],
    theirs: theirs[name],
    mine: mine[name],
    both: !same(base[name], theirs[name]) && !same(base[name], mine[name]),
  }));
}

/** Mine where I changed something or say so, theirs elsewhere. */
export function joined(theirs: Draft, mine: Draft, kept: readonly FieldName[]): Draft {
  return { ...theirs, ...Object.fromEntries(kept.map((name) => [name, mine[name]])) };
}
