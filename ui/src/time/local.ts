// A clock on the wall of a zone: what it shows at an instant, and which instant it is when it shows something.
import { partsIn } from "./format";

/** As an `<input type="datetime-local">` has it: 2026-11-16T09:30. */
export function wallClock(instant: Date, zone: string, { seconds = false } = {}): string {
  const { date, clock } = partsIn(instant, zone, { seconds });
  return `${date}T${clock}`;
}

/** The instant at which the clock shows it; the first of two, and when it never does, the first moment after. */
export function instantAt(wall: string, zone: string): Date | null {
  const figures = Date.parse(`${wall}Z`);
  if (Number.isNaN(figures)) return null;
  const offsets = [figures - DAY, figures + DAY].map((near) => offsetAt(near, zone));
  const fitting = offsets.map((offset) => figures - offset).filter((at) => at + offsetAt(at, zone) === figures);
  // In a gap neither offset fits: the one before it gives the moment by which the clock has jumped ahead.
  return new Date(fitting.length > 0 ? Math.min(...fitting) : figures - Math.min(...offsets));
}

const DAY = 86_400_000;

function offsetAt(at: number, zone: string): number {
  const { date, clock } = partsIn(new Date(at), zone);
  return Date.parse(`${date}T${clock}Z`) - Math.floor(at / 1_000) * 1_000;
}

/** Nine in the morning of the next day, by the clock of a zone. */
export function tomorrowAtNine(now: Date, zone: string): Date {
  const today = partsIn(now, zone).date;
  const next = new Date(Date.parse(`${today}T00:00Z`) + DAY).toISOString().slice(0, 10);
  return instantAt(`${next}T09:00`, zone) ?? now;
}
