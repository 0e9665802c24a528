// words of alerts
// What a rule can look at: its kinds, what each needs, and how it is said in words.
import { lengthOf } from "../../time/format";

export type Condition = { kind: string; [parameter: string]: unknown };
export type Parameter = { name: string; label: string; unit: string; first: number; least: number; whole: boolean };
type Kind = { kind: string; parameters: readonly Parameter[] };

const COUNT: Parameter = {
  name: "count",
  label: "parameter.count",
  unit: "unit.times",
  first: 3,
  least: 2,
  whole: true,
};
const seconds = (first: number): Parameter => ({
  name: "seconds",
  label: "parameter.seconds",
  unit: "unit.seconds",
  first,
  least: 1,
  whole: false,
});

/** `running_longer` is one kind that is measured in one of two ways, which are chosen apart. */
export const KINDS: readonly Kind[] = [
  { kind: "failed", parameters: [] },
  { kind: "failed_in_a_row", parameters: [COUNT] },
  { kind: "late", parameters: [seconds(300)] },
  { kind: "never_started", parameters: [seconds(900)] },
  { kind: "running_longer", parameters: [seconds(3600)] },
  {
    kind: "running_longer_median",
    parameters: [
      {
        name: "times_median",
        label: "parameter.timesMedian",
        unit: "unit.medians",
        first: 3,
        least: 1,
        whole: false,
      },
    ],
  },
  { kind: "executor_lost", parameters: [] },
  {
    kind: "queue_longer",
    parameters: [
      { name: "count", label: "parameter.waiting", unit: "unit.instances", first: 1000, least: 0, whole: true },
      { name: "minutes", label: "parameter.minutes", unit: "unit.minutes", first: 5, least: 0, whole: false },
    ],
  },
];

/** The kind as it is chosen in the form. */
export function choiceOf(condition: Condition): string {
  return condition.kind === "running_longer" && condition.times_median !== undefined
    ? "running_longer_median"
    : condition.kind;
}

export function conditionOf(choice: string, values: Record<string, unknown> = {}): Condition {
  const parameters = KINDS.find((one) => one.kind === choice)?.parameters ?? [];
  return {
    kind: choice === "running_longer_median" ? "running_longer" : choice,
    ...Object.fromEntries(parameters.map(({ name, first }) => [name, values[name] ?? first])),
  };
}

/** What fills the holes of `alerts:condition.<choice>`. */
export function holesOf(condition: Condition): Record<string, string | number> {
  const holes: Record<string, string | number> = {};
  for (const [name, value] of Object.entries(condition)) {
    if (typeof value !== "number") continue;
    if (name === "seconds") holes.length = lengthOf(value * 1_000);
    else if (name === "minutes") holes.length = lengthOf(value * 60_000);
    else holes[name] = value;
  }
  return holes;
}

export type Scope = { of: "all" | "group" | "task"; name: string };

export function scopeOf(scope: unknown): Scope {
  if (typeof scope === "object" && scope !== null) {
    for (const of of ["group", "task"] as const) {
      const name = (scope as Record<string, unknown>)[of];
      if (typeof name === "string" || typeof name === "number") return { of, name: String(name) };
    }
  }
  return { of: "all", name: "" };
}

export function written({ of, name }: Scope): unknown {
  return of === "all" ? "all" : { [of]: name };
}
