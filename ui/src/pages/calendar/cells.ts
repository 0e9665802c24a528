// Days and hours by the clock of a zone, with what ended in each, what is to come, and what rests.
import type { components } from "../../api/schema";
import { instantAt } from "../../time/local";

export type Ended = { success: number; failed: number; cancelled: number };
export type Hour = {
  date: string;
  hour: number;
  /** Null when the clock skips it. */
  from: number | null;
  to: number;
  ended: Ended;
  coming: number;
  rests: "all" | "part" | null;
};
export type View = "week" | "month";
type Schemas = components["schemas"];
export type Rest = {
  key: string;
  kind: "pause" | "window";
  name: string;
  scope: Schemas["PauseScope"];
  /** The group or the task it is for. */
  of: string | null;
  from: number;
  to: number | null;
};

const DAY = 86_400_000;

/** The days of the week (from Monday) or the month that a day lies in. */
export function daysOf(view: View, day: string): string[] {
  const at = Date.parse(`${day}T00:00Z`);
  const first =
    view === "week" ? at - ((new Date(at).getUTCDay() + 6) % 7) * DAY : Date.parse(`${day.slice(0, 7)}-01T00:00Z`);
  const count = view === "week" ? 7 : new Date(Date.UTC(yearOf(day), monthOf(day), 0)).getUTCDate();
  return Array.from({ length: count }, (_, number) => dayOf(first + number * DAY));
}

/** A day of the week or month before or after. */
export function turned(view: View, day: string, by: 1 | -1): string {
  if (view === "week") return dayOf(Date.parse(`${day}T00:00Z`) + by * 7 * DAY);
  return dayOf(Date.UTC(yearOf(day), monthOf(day) - 1 + by, 1));
}

const yearOf = (day: string) => Number(day.slice(0, 4));
const monthOf = (day: string) => Number(day.slice(5, 7));
const dayOf = (at: number) => new Date(at).toISOString().slice(0, 10);

export function hoursOf(days: readonly string[], zone: string): Hour[] {
  const last = days.at(-1) ?? "";
  const starts = days.flatMap((date) =>
    Array.from({ length: 24 }, (_, hour) => ({ date, hour, at: startOf(date, hour, zone) })),
  );
  const end = startOf(dayOf(Date.parse(`${last}T00:00Z`) + DAY), 0, zone);
  return starts.map(({ date, hour, at }, number) => {
    const to = starts[number + 1]?.at ?? end;
    // An hour that the clock skips begins when the next one does; one that it goes through twice is longer.
    return { date, hour, from: to > at ? at : null, to, ended: nothing(), coming: 0, rests: null };
  });
}

function startOf(date: string, hour: number, zone: string): number {
  return instantAt(`${date}T${String(hour).padStart(2, "0")}:00`, zone)?.getTime() ?? 0;
}

const nothing = (): Ended => ({ success: 0, failed: 0, cancelled: 0 });

type Found = {
  ended: readonly Schemas["Point"][];
  coming: readonly Schemas["LoadStep"][];
  rests: readonly Rest[];
};

export function filled(hours: readonly Hour[], { ended, coming, rests }: Found, group: string | undefined): Hour[] {
  const cells = hours.map((one) => ({ ...one, ended: nothing(), rests: restOf(one, rests, group) }));
  const real = cells.filter((one) => one.from !== null);
  let at = 0;
  const of = (moment: number) => {
    while (at < real.length && (real[at]?.to ?? 0) <= moment) at += 1;
    const cell = real[at];
    return cell?.from != null && cell.from <= moment ? cell : undefined;
  };
  for (const step of coming) {
    const cell = of(Date.parse(step.at));
    if (cell) cell.coming += step.count;
  }
  at = 0;
  for (const point of ended) {
    const cell = of(Date.parse(point.at));
    if (cell === undefined) continue;
    cell.ended.success += point.success;
    cell.ended.failed += point.failed;
    cell.ended.cancelled += point.cancelled;
  }
  return cells;
}

function restOf({ from, to }: Hour, rests: readonly Rest[], group: string | undefined): Hour["rests"] {
  if (from === null) return null;
  const over = rests.filter((one) => one.from < to && (one.to ?? Infinity) > from);
  if (over.some((one) => one.scope === "all" || (one.scope === "group" && one.of === group))) return "all";
  // That a single task rests is told beside the grid: it would hatch everything.
  return group === undefined && over.some((one) => one.scope === "group") ? "part" : null;
}

export function restsOf(
  pauses: readonly Schemas["PauseOutput"][],
  windows: readonly Schemas["WindowOutput"][],
): Rest[] {
  const of = (one: { task_name: string | null; group: string | null; scope: Rest["scope"] }) =>
    one.scope === "task" ? one.task_name : one.scope === "group" ? one.group : null;
  return [
    ...pauses.map((pause) => ({
      key: `pause ${pause.id}`,
      kind: "pause" as const,
      name: pause.reason,
      scope: pause.scope,
      of: of(pause),
      from: Date.parse(pause.created_at),
      to: pause.until === null ? null : Date.parse(pause.until),
    })),
    ...windows
      .filter((window) => window.enabled)
      .flatMap((window) =>
        window.next.map((opening) => ({
          key: `window ${window.id} ${opening.from}`,
          kind: "window" as const,
          name: window.name,
          scope: window.scope,
          of: of(window),
          from: Date.parse(opening.from),
          to: Date.parse(opening.to),
        })),
      ),
  ];
}

export const endedOf = ({ ended }: Hour): number => ended.success + ended.failed + ended.cancelled;

/** The hour with most to come; of equals the first. */
export function peakOf(hours: readonly Hour[]): Hour | null {
  let peak: Hour | null = null;
  for (const hour of hours) if (hour.coming > (peak?.coming ?? 0)) peak = hour;
  return peak;
}

/** How hot a count is, 0 to 1, among others: what fires all the time alike says nothing, so the least of them is cool. */
export function heatOf(count: number, others: readonly number[]): number {
  if (count === 0) return 0;
  const most = Math.max(count, ...others);
  const least = Math.min(count, ...others);
  if (most - least < most / 50) return 0.4;
  return 0.15 + (0.85 * (count - least)) / (most - least);
}
