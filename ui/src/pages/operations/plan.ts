// What a preview says, put so that a person can judge it.
import type { components } from "../../api/schema";

export type Preview = components["schemas"]["OperationPreview"];
export type Statement = components["schemas"]["OperationStatement"];
/** The statements of one step. */
export type PlanStep = Omit<Statement, "sql"> & { number: number; sql: string[] };

export function stepsOf(statements: readonly Statement[]): PlanStep[] {
  const steps: PlanStep[] = [];
  for (const { sql, ...about } of statements) {
    const last = steps.at(-1);
    if (last?.step === about.step && last.phase === about.phase) {
      last.sql.push(...(sql === null ? [] : [sql]));
      last.destructive ||= about.destructive; // two steps may have the same name: what one of them deletes is asked about
    } else steps.push({ ...about, number: steps.length + 1, sql: sql === null ? [] : [sql] });
  }
  return steps;
}

/** Who has to wait for a lock: everybody, who writes, who touches the same rows, nobody, or it cannot be told. */
export type Stops = "everybody" | "writers" | "rows" | "nobody" | "unknown";
const STRENGTH: readonly Stops[] = ["nobody", "rows", "unknown", "writers", "everybody"];

/** The databases' own words for locks say it, and where they do not, the plan's. */
export function stopsOf(lock: string | null): Stops {
  if (lock === null) return "nobody";
  const some = /\brow locks?\b|\brows\b|\bchunk\b/i.test(lock) && !/\b(all of|table)\b/i.test(lock);
  if (/reads and writes go on/i.test(lock)) return some ? "rows" : "nobody";
  if (/ACCESS EXCLUSIVE|exclusive metadata|SCH-M|nobody reads/i.test(lock)) return "everybody";
  if (/SHARE ROW EXCLUSIVE|for writers|nobody writes/i.test(lock)) return "writers";
  if (some || /ROW EXCLUSIVE|ROW SHARE|ACCESS SHARE|SHARE UPDATE/i.test(lock)) return "rows";
  return /\bSHARE\b|\bEXCLUSIVE\b|reads go on/i.test(lock) ? "writers" : "unknown";
}

/** The locks that somebody waits for, the strongest first, each once. */
export function locksOf(steps: readonly PlanStep[]): { stops: Stops; step: PlanStep }[] {
  const seen = new Map<string, { stops: Stops; step: PlanStep }>();
  for (const step of steps) {
    if (step.lock === null) continue;
    const known = seen.get(step.lock);
    // Of steps with the same lock the one that holds it longest is the one to know of.
    if (known === undefined || (known.step.duration === "moment" && step.duration !== "moment")) {
      seen.set(step.lock, { stops: stopsOf(step.lock), step });
    }
  }
  return [...seen.values()].sort((one, other) => STRENGTH.indexOf(other.stops) - STRENGTH.indexOf(one.stops));
}

/** The steps that delete or overwrite what was there before, as their kind says. */
export function destroying(steps: readonly PlanStep[]): PlanStep[] {
  return steps.filter(({ destructive }) => destructive);
}

/** What keeps it from being started: what the executor's machine lacks is looked for there, and may be met. */
export function hindrances({ preconditions }: Preview): {
  certain: Preview["preconditions"];
  perhaps: Preview["preconditions"];
} {
  const unmet = preconditions.filter(({ ok }) => !ok);
  return {
    certain: unmet.filter(({ side }) => side !== "executor"),
    perhaps: unmet.filter(({ side }) => side === "executor"),
  };
}

export type PlannedPhase = { name: string; state: "done" | "now" | "ahead" };

/** The phases of the plan that an instance was given, in their order, and which of them it is in. */
export function phasesOf(args: unknown, phase: string | null, ended: boolean): PlannedPhase[] {
  const steps = at(at(args, "plan"), "steps");
  if (!Array.isArray(steps)) return [];
  const names: string[] = [];
  for (const step of steps) {
    const name = at(step, "phase");
    if (typeof name === "string" && names.at(-1) !== name) names.push(name);
  }
  // A phase may come twice; what it is in is the last that could be meant only once it is past the first.
  const now = phase === null ? -1 : names.indexOf(phase);
  return names.map((name, index) => ({
    name,
    state: ended ? "done" : index < now ? "done" : index === now ? "now" : "ahead",
  }));
}

function at(value: unknown, name: string): unknown {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>)[name] : undefined;
}
