// A period in the address: instants, or lengths back from now such as "-24h", so that a bookmark stays true.
import { partsIn } from "../time/format";
import { instantAt as instantOfClock } from "../time/local";

const UNITS: Record<string, number> = { m: 60_000, h: 3_600_000, d: 86_400_000 };

/** The lengths that are offered. */
export const QUICK = ["-15m", "-1h", "-6h", "-24h", "-7d"] as const;

/** "-24h" as an instant; an instant as it is; what is neither is undefined. Whole minutes, so that what was fetched is found again. */
export function instantOf(value: string | undefined, now: number): string | undefined {
  if (!value) return undefined;
  const back = /^-(\d{1,6})([mhd])$/.exec(value);
  if (back) {
    const at = now - Number(back[1]) * (UNITS[back[2] ?? ""] ?? 0);
    return new Date(Math.floor(at / 60_000) * 60_000).toISOString();
  }
  const parsed = Date.parse(value);
  return Number.isNaN(parsed) ? undefined : new Date(parsed).toISOString();
}

/** What a clock on the wall of a zone shows, as `datetime-local` inputs want it. */
export function wallOf(instant: string | undefined, zone: string): string {
  if (instant === undefined) return "";
  const { date, clock } = partsIn(new Date(instant), zone);
  return `${date}T${clock}`;
}

/** The instant at which a clock on the wall of a zone shows this; of two, the first. */
export function instantAt(wall: string, zone: string): string | undefined {
  return instantOfClock(wall, zone)?.toISOString();
}
