// The minutes of an hour.
import type { components } from "../../api/schema";

type Step = components["schemas"]["LoadStep"];
export const MINUTE = 60_000;

/** The first of those with most in it; none when nothing fires. */
export function busiestMinute(steps: readonly Step[]): Step | null {
  let most: Step | null = null;
  for (const step of steps) if (step.count > (most?.count ?? 0)) most = step;
  return most;
}

export function textOf(at: number): string {
  return new Date(at).toISOString();
}
