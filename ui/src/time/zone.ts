// Whose clock a time is shown by.
import { browserZone } from "./format";
import { usePreferences } from "../state/preferences";

/** The zone to show times in: the task's where one is given and chosen, else UTC or the browser's. */
export function useZone(task?: string | null): string {
  return useZones()(task);
}

/** The same, for many. */
export function useZones(): (task?: string | null) => string {
  const { clock } = usePreferences();
  return (task) => (clock === "utc" ? "UTC" : clock === "task" && task ? task : browserZone());
}
