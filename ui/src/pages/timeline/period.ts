// Which stretch of time is looked at: the last hours, going along with the clock, or one that stands still.
import { instantOf } from "../../parts/period";
import type { Filters } from "../../state/url";
import { partsIn } from "../../time/format";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const LONGEST = 7 * DAY;
const SHORTEST = 10_000;

/** As they stand in the address; the first is what is shown unless another is chosen. */
export const LENGTHS = ["-1h", "-6h", "-24h"] as const;

export type Period = { from: number; to: number; live: boolean };

export function periodOf(filters: Filters, now: number): Period {
  const from = instantOf(filters.from, now);
  const to = instantOf(filters.to, now);
  if (from !== undefined && to !== undefined && Date.parse(from) < Date.parse(to)) {
    return bounded({ from: Date.parse(from), to: Date.parse(to), live: false });
  }
  const length = from === undefined ? HOUR : Math.min(LONGEST, Math.max(MINUTE, now - Date.parse(from)));
  // A part of what is to come is in sight as well.
  return { from: now - length, to: now + Math.min(length / 6, LONGEST - length), live: true };
}

/** Nearer or farther, around a point of it (0 is its beginning, 1 its end). */
export function zoomed({ from, to }: Period, around: number, factor: number): Period {
  const length = Math.min(LONGEST, Math.max(SHORTEST, (to - from) * factor));
  const start = from + (to - from) * around - length * around;
  return bounded({ from: start, to: start + length, live: false });
}

/** By a part of its length, into the past (negative) or the future. */
export function moved({ from, to }: Period, part: number): Period {
  const by = (to - from) * part;
  return { from: from + by, to: to + by, live: false };
}

function bounded(period: Period): Period {
  return { ...period, from: Math.max(period.from, period.to - LONGEST) };
}

/** For the address: whole seconds are short, and exact enough. */
export function written({ from, to }: Period): { from: string; to: string } {
  const text = (at: number) => new Date(Math.round(at / 1_000) * 1_000).toISOString().replace(".000", "");
  return { from: text(from), to: text(Math.max(to, from + 1_000)) };
}

const STEPS = [
  1_000,
  5_000,
  10_000,
  30_000,
  MINUTE,
  2 * MINUTE,
  5 * MINUTE,
  10 * MINUTE,
  15 * MINUTE,
  30 * MINUTE,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
  DAY,
];

export type Tick = { at: number; label: string };

/** Marks on the axis at round times of the zone's clock, at most so many. */
export function ticks({ from, to }: Period, zone: string, most: number): Tick[] {
  const step = STEPS.find((one) => (to - from) / one <= most) ?? DAY;
  const { date, clock } = partsIn(new Date(from), zone);
  const offset = Date.parse(`${date}T${clock}Z`) - Math.floor(from / 1_000) * 1_000;
  const first = Math.ceil((from + offset) / step) * step - offset;
  const marks: Tick[] = [];
  for (let at = first; at <= to; at += step) {
    const parts = partsIn(new Date(at), zone);
    const midnight = parts.clock === "00:00:00";
    marks.push({ at, label: midnight ? parts.date.slice(5) : parts.clock.slice(0, step < MINUTE ? 8 : 5) });
  }
  return marks;
}
