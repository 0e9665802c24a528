// Why an instance is where it is, in the reader's language: which sentence, with which values, and where to go from there.
import type { components } from "../../api/schema";

export type Reason = components["schemas"]["ReasonOutput"];
export type Sentence = { key: string; values: Record<string, string | number> };
export type Thing = { kind: "task" | "instance" | "pause" | "window" | "executor" | "group"; id: string; name: string };
type Data = Record<string, unknown>;
/** An instant as the page writes it. */
type At = (instant: string) => string;

const text = (value: unknown): string =>
  typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
const number = (value: unknown): number => (typeof value === "number" ? value : 0);
const record = (value: unknown): Data => (typeof value === "object" && value !== null ? (value as Data) : {});
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : []);
const pairs = (value: unknown): string =>
  Object.entries(record(value))
    .map(([name, one]) => `${name}=${text(one)}`)
    .join(", ");

const ENDED_ALONE = ["succeeded", "executor_lost", "replaced"];

/** The sentence `explain.<key>`; a code that is not known here is told in the server's own words. */
export function sentenceOf({ code, data, since, until, text: said }: Reason, at: At): Sentence {
  const when = until === null ? "" : at(until);
  const key = (name: string, values: Sentence["values"] = {}): Sentence => ({ key: name, values });
  switch (code) {
    case "held":
    case "release_due":
    case "claimable":
      return key(code);
    case "predecessor":
      return key(code);
    case "upstream_open":
    case "upstream_to_come":
    case "upstream_failed":
    case "upstream_missing":
      return key(`${code}.${data.task_name ? "named" : "hidden"}`, {
        task: text(data.task_name),
        instant: data.scheduled_time ? at(text(data.scheduled_time)) : "–",
        until: when || "–",
      });
    case "concurrency_full":
      return key(number(data.ahead) > 0 ? `${code}.behind` : `${code}.next`, {
        key: text(data.key),
        limit: number(data.limit),
        taken: number(data.taken),
        count: number(data.ahead),
      });
    case "permit_due":
      return key(code, { key: text(data.key) });
    case "not_yet_due":
    case "handed_back":
      return key(code, { until: when });
    case "retry_backoff":
      return key(code, {
        attempt: number(data.attempt),
        attempts: text(data.attempts) || "?",
        error: text(data.error_message) || "–",
        until: when,
      });
    case "paused":
      return key(`${code}.${data.scope === "all" ? "all" : "group"}.${until === null ? "open" : "until"}`, {
        owner: text(data.owner),
        reason: text(data.reason),
        until: when,
      });
    case "window":
      return key(`${code}.${data.scope === "all" ? "all" : "group"}`, {
        name: text(data.name),
        reason: text(data.reason),
        until: when,
      });
    case "no_executor": {
      const silent = list(data.silent).map(text).join(", ");
      return key(silent === "" ? `${code}.none` : `${code}.silent`, { group: text(data.group), silent });
    }
    case "target_gone":
      return key(list(data.others).length > 0 ? `${code}.others` : `${code}.alone`, {
        executor: text(data.target_executor_id),
      });
    case "nobody_provides":
      return key(data.handler ? `${code}.handler` : `${code}.other`, {
        group: text(data.group),
        handler: text(data.handler),
        requires: text(data.requires),
      });
    case "nobody_labelled":
      return key(code, { group: text(data.group), labels: pairs(data.labels) });
    case "executors_full":
      return key(code, { count: number(data.count) });
    case "behind_others":
      return key(data.more === true ? `${code}.many` : `${code}.some`, {
        count: number(data.ahead),
        priority: number(data.priority),
      });
    case "running":
      return key(code, { executor: text(data.executor_id), attempt: number(data.attempt) });
    case "lease_expired":
      return key(code, {
        executor: text(data.executor_id),
        last: data.last_heartbeat ? at(text(data.last_heartbeat)) : "–",
      });
    case "cancel_requested":
    case "cancelled":
      return key(`${code}.${data.by ? "by" : "unknown"}.${data.reason ? "reason" : "bare"}`, {
        by: text(data.by),
        reason: text(data.reason),
      });
    case "failed":
    case "timed_out":
      return key(code, { count: number(data.retry_count) + 1, losses: number(data.losses) });
    case "poisonous":
      return key(code, { count: number(data.losses) });
    case "failed_upstream":
    case "dependency_timeout":
      return key(code, {
        tasks: list(data.unmet)
          .map((one) => `#${text(record(one).task_id)}`)
          .join(", "),
      });
    case "task_deleted":
      return key(code, { by: text(data.by) });
    case "skipped_misfire":
    case "skipped_overlap":
    case "skipped_window":
    case "skipped_paused":
    case "skipped_no_executor":
      return key(code, { count: number(data.count) || 1 });
    case "executor_lost_before":
      return key(code, { count: number(data.losses), most: number(data.most) });
    case "retried":
      return key(code, { count: number(data.manual_retries) });
    default:
      if (ENDED_ALONE.includes(code)) return key(code, { executor: text(data.executor_id) || "–" });
      return key("unknown", { said, since: since ?? "" });
  }
}

/** What the reason names, to go there. */
export function thingsOf({ code, data }: Reason): Thing[] {
  const things: Thing[] = [];
  const add = (kind: Thing["kind"], id: unknown, name: unknown = id) => {
    if (text(id) !== "") things.push({ kind, id: text(id), name: text(name) || text(id) });
  };
  if (code.startsWith("upstream_") && data.task_name) add("task", data.task_id, data.task_name);
  for (const one of list(data.unmet)) add("task", record(one).task_id, `#${text(record(one).task_id)}`);
  const instances = Array.isArray(data.instances) ? data.instances : Object.keys(record(data.instances));
  for (const id of instances.slice(0, 5)) add("instance", id, `#${text(id)}`);
  if (code === "paused") add("pause", data.pause_id);
  if (code === "window") add("window", data.window_id, data.name);
  if (["no_executor", "nobody_provides", "nobody_labelled"].includes(code)) add("group", data.group);
  if (["lease_expired", "target_gone"].includes(code)) add("executor", data.executor_id ?? data.target_executor_id);
  if (code === "executors_full") for (const id of Object.keys(record(data.executors)).slice(0, 5)) add("executor", id);
  return things;
}
