// What ran and what is to come, by task; what ran at the same time lies side by side.
import type { components } from "../../api/schema";

export type Bar = components["schemas"]["Bar"];
export type Instant = components["schemas"]["UpcomingInstant"];
export type Laid = Bar & { lane: number };
export type Row = { id: number; name: string; group: string; bars: Laid[]; marks: Instant[]; lanes: number };

/** More than these lie upon each other: a row of fifty could not be read anyway. */
const LANES = 4;
export const LANE = 14;
const PADDING = 8;

export function rowsOf(bars: readonly Bar[], instants: readonly Instant[], now: number): Row[] {
  const rows = new Map<number, Row>();
  const row = (id: number, name: string, group: string) => {
    let found = rows.get(id);
    if (found === undefined) rows.set(id, (found = { id, name, group, bars: [], marks: [], lanes: 1 }));
    return found;
  };
  const sorted = [...bars].sort((a, b) => Date.parse(a.start_time) - Date.parse(b.start_time));
  const ends = new Map<number, number[]>();
  for (const bar of sorted) {
    const of = row(bar.task_id, bar.task_name, bar.group);
    const taken = ends.get(bar.task_id) ?? [];
    ends.set(bar.task_id, taken);
    const start = Date.parse(bar.start_time);
    const free = taken.findIndex((end) => end <= start);
    const lane = Math.min(free === -1 ? taken.length : free, LANES - 1);
    taken[lane] = Math.max(taken[lane] ?? 0, bar.end_time === null ? now : Date.parse(bar.end_time));
    of.bars.push({ ...bar, lane });
    of.lanes = Math.max(of.lanes, lane + 1);
  }
  for (const instant of instants) row(instant.task_id, instant.task_name, instant.group).marks.push(instant);
  return [...rows.values()].sort((a, b) => a.name.localeCompare(b.name) || a.id - b.id);
}

export function heightOf(row: Row): number {
  return row.lanes * LANE + PADDING;
}
