// Times as text, in a zone; lengths of time as text.
const formats = new Map<string, Intl.DateTimeFormat>();

function format(zone: string, seconds: boolean): Intl.DateTimeFormat {
  const key = `${zone} ${seconds}`;
  let made = formats.get(key);
  if (made === undefined) {
    made = new Intl.DateTimeFormat("en-CA", {
      timeZone: zone,
      year: "numeric",
      month: "2-digit",
      day: "2-digit",
      hour: "2-digit",
      minute: "2-digit",
      ...(seconds ? { second: "2-digit" } : {}),
      hourCycle: "h23",
      timeZoneName: "short",
    });
    formats.set(key, made);
  }
  return made;
}

export type Parts = { date: string; clock: string; zone: string };

/** The parts of an instant in a zone; an unknown zone is shown as UTC rather than not at all. */
export function partsIn(instant: Date, zone: string, { seconds = true } = {}): Parts {
  if (Number.isNaN(instant.getTime())) return { date: "–", clock: "–", zone: "" }; // such as what an address asks for
  let made: Intl.DateTimeFormat;
  try {
    made = format(zone, seconds);
  } catch {
    made = format("UTC", seconds);
  }
  const parts = Object.fromEntries(made.formatToParts(instant).map((part) => [part.type, part.value]));
  const clock = [parts.hour, parts.minute, ...(seconds ? [parts.second] : [])].join(":");
  return { date: `${parts.year}-${parts.month}-${parts.day}`, clock, zone: parts.timeZoneName ?? "" };
}

export function browserZone(): string {
  return Intl.DateTimeFormat().resolvedOptions().timeZone;
}

/** 1,234 ms is "1.2 s", 75 s is "1 min 15 s"; the units are the same in every language. */
export function lengthOf(milliseconds: number): string {
  const ms = Math.max(0, milliseconds);
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  const seconds = ms / 1_000;
  if (seconds < 10) return `${seconds.toFixed(1)} s`;
  if (seconds < 60) return `${Math.floor(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return two(minutes, "min", Math.floor(seconds % 60), "s");
  const hours = Math.floor(minutes / 60);
  if (hours < 48) return two(hours, "h", minutes % 60, "min");
  return two(Math.floor(hours / 24), "d", hours % 24, "h");
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return small === 0 ? `${large} ${largeUnit}` : `${large} ${largeUnit} ${small} ${smallUnit}`;
}

/** "in 5 min" or "5 min ago", in the language of the page. */
export function relative(instant: Date, now: Date, language: string): string {
  const seconds = (instant.getTime() - now.getTime()) / 1_000;
  const words = new Intl.RelativeTimeFormat(language, { numeric: "auto", style: "short" });
  const size = Math.abs(seconds);
  if (size < 60) return words.format(Math.trunc(seconds), "second");
  if (size < 3_600) return words.format(Math.trunc(seconds / 60), "minute");
  if (size < 86_400 * 2) return words.format(Math.trunc(seconds / 3_600), "hour");
  return words.format(Math.trunc(seconds / 86_400), "day");
}
