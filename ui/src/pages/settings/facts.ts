// words of settings
// What of a diagnosis somebody should know, gravest first. `hourhand doctor` judges more, and says what to do.
import type { components } from "../../api/schema";
import { lengthOf } from "../../time/format";

type Diagnosis = components["schemas"]["DiagnosisOutput"];
export type Worry = { key: string; grave: boolean; text: string; holes: Record<string, string | number> };

const SILENT = 60;
const STALE = 30;

export function worriesOf({ process, database, store }: Diagnosis): Worry[] {
  const found: Worry[] = [];
  const tell = (grave: boolean, text: string, holes: Record<string, string | number> = {}) =>
    found.push({ key: `${text} ${Object.values(holes).join(" ")}`, grave, text, holes });
  const seconds = (figure: number) => lengthOf(figure * 1_000);

  if (database.read_only) tell(true, "worry.readOnly");
  if (["missing", "wrong", "unreadable"].includes(process.key))
    tell(true, "worry.key", { detail: process.key_detail ?? "" });
  const cycle = store.cycle_seconds;
  if (cycle === null || cycle === undefined) tell(true, "worry.noScheduler");
  else if (cycle > STALE) tell(true, "worry.scheduler", { length: seconds(cycle) });
  for (const { group, due, executors, oldest_due_seconds: oldest } of store.groups ?? []) {
    if ((due ?? 0) > 0 && (executors ?? 0) === 0) tell(true, "worry.noExecutor", { group, count: due ?? 0 });
    else if ((oldest ?? 0) > SILENT) tell(false, "worry.waits", { group, length: seconds(oldest ?? 0) });
  }
  for (const { group, zombies } of store.groups ?? []) {
    if ((zombies ?? 0) > 0) tell(true, "worry.zombies", { group, count: zombies ?? 0 });
  }
  for (const { rule, target, error } of store.unsent ?? []) tell(false, "worry.unsent", { rule, target, error });
  for (const table of database.tables_lacking ?? []) tell(true, "worry.table", { table });
  for (const { group, reason } of store.resting ?? []) {
    tell(false, group ? "worry.groupRests" : "worry.allRests", { group: group ?? "", reason });
  }
  if ((store.audit_unsealed_seconds ?? 0) > 600) {
    tell(false, "worry.unsealed", { length: seconds(store.audit_unsealed_seconds ?? 0) });
  }
  return found.sort((one, other) => Number(other.grave) - Number(one.grave));
}
