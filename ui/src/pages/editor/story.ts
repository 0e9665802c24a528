// What will happen, said once more in sentences: what somebody who set twenty fields wants to read before saving.
import { lengthOf } from "../../time/format";
import { DEFAULTS, differing, type Draft, type FieldName } from "./draft";
import { formOf } from "./schedule";

export type Sentence = { word: string; values?: Record<string, string | number> };

export type Known = {
  /** The schedule in words, without a full stop. */
  when: string | null;
  /** The next instant by the task's clock. */
  next: string | null;
  /** What it depends on, by name. */
  upstream: readonly string[];
};

export function storyOf(draft: Draft, known: Known): Sentence[] {
  const form = formOf(draft.schedule);
  const told: Sentence[] = [];
  if (!draft.enabled) told.push({ word: "disabled" });
  else if (form === "manual") told.push({ word: "manual" });
  else if (form === "upstream") told.push({ word: draft.dependency_ids.length > 0 ? "upstream" : "upstreamNone" });
  else if (known.when !== null) {
    told.push({ word: "when", values: { when: known.when, zone: draft.timezone } });
    if (known.next !== null) told.push({ word: "next", values: { next: known.next } });
  }
  if (draft.dependency_ids.length > 0) {
    const names = known.upstream.join(", ");
    const one = draft.dependency_ids.length === 1;
    told.push({
      word: one ? "afterOne" : draft.dependency_mode === "all" ? "afterAll" : "afterAny",
      values: { names },
    });
    told.push({
      word: `upstream_${draft.upstream_failure_policy}`,
      values: { length: lengthOf(draft.dependency_timeout_seconds * 1_000) },
    });
  }
  told.push({ word: draft.broadcast ? "broadcast" : "where", values: { group: draft.group } });
  const labels = Object.entries(draft.executor_labels).map(([name, value]) => `${name}=${value}`);
  if (labels.length > 0) told.push({ word: "labels", values: { labels: labels.join(", ") } });
  told.push(retries(draft));
  if (draft.timeout_seconds !== null) {
    told.push({ word: "timeout", values: { length: lengthOf(draft.timeout_seconds * 1_000) } });
  }
  if (form !== "manual") told.push({ word: `overlap_${draft.overlap_policy}` });
  if (draft.concurrency_key !== null) {
    told.push({ word: "permits", values: { key: draft.concurrency_key, limit: draft.concurrency_limit } });
  }
  return told;
}

function retries(draft: Draft): Sentence {
  const times = draft.max_retries ?? 0;
  if (times === 0) return { word: "noRetry" };
  const shown = Math.min(times, 3);
  const delays = Array.from({ length: shown }, (_, number) =>
    lengthOf(draft.retry_delay_seconds * 1_000 * (draft.retry_backoff === "exponential" ? 2 ** number : 1)),
  );
  return { word: "retry", values: { count: times, delays: delays.join(", ") + (times > shown ? " …" : "") } };
}

/** The sections that are folded, and the fields in each. */
export const SECTIONS = {
  dependencies: ["dependency_ids", "dependency_mode", "upstream_failure_policy", "dependency_timeout_seconds"],
  retries: ["max_retries", "retry_delay_seconds", "retry_backoff", "timeout_seconds", "executor_loss_policy"],
  lateness: ["misfire_policy", "misfire_grace_seconds", "catch_up_limit", "overlap_policy"],
  placing: ["priority", "executor_labels", "broadcast", "concurrency_key", "concurrency_limit"],
  args: ["args_schema"],
  about: ["description", "owner", "tags"],
} as const satisfies Record<string, readonly FieldName[]>;
export type SectionName = keyof typeof SECTIONS;

/** What differs from the defaults in a section. */
export function changedIn(section: SectionName, draft: Draft): FieldName[] {
  return differing(DEFAULTS, draft, SECTIONS[section]);
}
