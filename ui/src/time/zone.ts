// Whose clock a time is shown by.
import { browserZone } from "./format";
import { usePreferences } from "../state/preferences";

/** The zone to show times in: the task's where one is given and chosen, else UTC or the browser's. */
export function useZone(task?: string | null): string {
  const { clock } = usePreferences();
  if (clock === "utc") return "UTC";
  if (clock === "task" && task) return task;
  return browserZone();
}
