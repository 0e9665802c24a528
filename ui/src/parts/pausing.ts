// Which pauses a task rests under: its own, its group's, that of everything.
import type { components } from "../api/schema";

export type Pause = components["schemas"]["PauseOutput"];

export function pausesOf(task: { id: number; group: string }, pauses: readonly Pause[]): Pause[] {
  return pauses.filter(
    (pause) =>
      pause.scope === "all" ||
      (pause.scope === "task" && pause.task_id === task.id) ||
      (pause.scope === "group" && pause.group === task.group),
  );
}

/** The one that ends last: until then it rests. One without an end lasts longest. */
export function longestOf(pauses: readonly Pause[]): Pause | null {
  const end = (pause: Pause) => (pause.until === null ? Infinity : Date.parse(pause.until));
  return pauses.reduce<Pause | null>((last, one) => (last === null || end(one) > end(last) ? one : last), null);
}
