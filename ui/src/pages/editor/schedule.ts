// The parts of a schedule's one text, and the text made of its parts.
import { wallClock } from "../../time/local";

export type Form = "cron" | "every" | "after" | "at" | "upstream" | "manual";

export const PRESETS = [
  { name: "fiveMinutes", schedule: "*/5 * * * *" },
  { name: "hourly", schedule: "0 * * * *" },
  { name: "nightly", schedule: "0 2 * * *" },
  { name: "weekdays", schedule: "0 9 * * MON-FRI" },
  { name: "weekly", schedule: "0 3 * * SUN" },
  { name: "monthly", schedule: "0 4 1 * *" },
  { name: "monthEnd", schedule: "0 22 L * *" },
  { name: "lastFriday", schedule: "0 0 18 ? * FRIL" },
] as const;

const MACROS: Record<string, string> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};

export const FIVE = ["minute", "hour", "day", "month", "weekday"] as const;
export const SEVEN = ["second", ...FIVE, "year"] as const;
export type Part = (typeof SEVEN)[number];

export function formOf(schedule: string): Form {
  const [word] = schedule.trim().toLowerCase().split(/\s+/);
  switch (word) {
    case "@every":
      return "every";
    case "@after":
      return "after";
    case "@at":
      return "at";
    case "@upstream":
      return "upstream";
    case "@manual":
      return "manual";
    default:
      return "cron";
  }
}

/** What a form begins with, keeping what was said when it can be said the same way. */
export function beginning(form: Form, before: string, tomorrow: string): string {
  const rest = before.trim().split(/\s+/).slice(1).join(" ");
  const length = formOf(before) === "every" || formOf(before) === "after" ? rest : "30m";
  switch (form) {
    case "cron":
      return formOf(before) === "cron" ? before : "0 2 * * *";
    case "every":
      return `@every ${length}`;
    case "after":
      return `@after ${length}`;
    case "at":
      return `@at ${tomorrow}`;
    default:
      return `@${form}`;
  }
}

/** What follows the word: "30s" of "@every 30s". */
export function argumentOf(schedule: string): string {
  return schedule.trim().split(/\s+/).slice(1).join(" ");
}

/** When `@at` fires, as a clock of the task's zone shows it; nothing where it cannot be read. */
export function wallOf(schedule: string, zone: string): string {
  const text = argumentOf(schedule).replace(" ", "T");
  if (/(z|[+-]\d\d:\d\d)$/i.test(text)) {
    const at = new Date(text);
    return Number.isNaN(at.getTime()) ? "" : wallClock(at, zone, { seconds: true });
  }
  return /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d)?$/.test(text) ? text : "";
}

/** The fields of a cron expression by name, or null if there are too few or too many. */
export function partsOf(schedule: string): Partial<Record<Part, string>> | null {
  const fields = (MACROS[schedule.trim().toLowerCase()] ?? schedule).trim().split(/\s+/);
  const names = fields.length === 5 ? FIVE : fields.length === 6 || fields.length === 7 ? SEVEN : null;
  if (names === null) return null;
  return Object.fromEntries(fields.map((field, number) => [names[number], field])) as Partial<Record<Part, string>>;
}

/** The expression with one of its fields changed; an empty field is every value, and an empty year none. */
export function withPart(schedule: string, part: Part, text: string): string {
  const parts = partsOf(schedule) ?? {};
  const value = text.replaceAll(/\s+/g, "");
  const names = "second" in parts ? SEVEN : FIVE;
  return names
    .map((name) => {
      const field = name === part ? value : (parts[name] ?? "");
      return field === "" && name !== "year" ? "*" : field;
    })
    .filter((field) => field !== "")
    .join(" ");
}

/** Five fields become six, at second 0, and six become five where nothing is lost by it. */
export function withSeconds(schedule: string, seconds: boolean): string {
  const parts = partsOf(schedule);
  if (parts === null || "second" in parts === seconds) return schedule;
  const { minute = "*", hour = "*", day = "*", month = "*", weekday = "*" } = parts;
  if (!seconds) return [minute, hour, either(day, "?", "*"), month, either(shifted(weekday, -1), "?", "*")].join(" ");
  const open = weekday === "*" || weekday === "?";
  return ["0", minute, hour, open ? day : "?", month, open ? "?" : shifted(weekday, 1)].join(" ");
}

function either(text: string, from: string, to: string): string {
  return text === from ? to : text;
}

/** Sunday is 0 with five fields and 1 with six; names are the same. */
function shifted(weekday: string, by: number): string {
  return weekday.replaceAll(/(^|[,-])(\d)/g, (_, before: string, digit: string) => {
    const number = Number(digit) % (by > 0 ? 7 : 8);
    return `${before}${number + by}`;
  });
}
