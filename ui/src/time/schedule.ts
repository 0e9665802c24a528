// A schedule, read far enough to be put in words.
import cronstrue from "cronstrue";
import "cronstrue/locales/zh_CN";

export type Reading =
  | { form: "cron"; cron: string }
  | { form: "every" | "after"; milliseconds: number }
  | { form: "at"; moment: string }
  | { form: "upstream" | "manual" | "unknown" };

const MACROS: Record<string, string> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@midnight": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@yearly": "0 0 1 1 *",
  "@annually": "0 0 1 1 *",
};
const UNITS: Record<string, number> = { w: 604_800_000, d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000, ms: 1 };

export function readSchedule(text: string): Reading {
  const trimmed = text.trim();
  const [word = "", rest = ""] = trimmed.split(/\s+(.*)/s);
  const first = word.toLowerCase();
  if (!first.startsWith("@")) return { form: "cron", cron: trimmed };
  const macro = MACROS[first];
  if (macro !== undefined) return { form: "cron", cron: macro };
  if (first === "@upstream" || first === "@manual") return { form: first === "@manual" ? "manual" : "upstream" };
  if (first === "@at") return { form: "at", moment: rest };
  const milliseconds = durationOf(rest);
  if ((first === "@every" || first === "@after") && milliseconds > 0) {
    return { form: first === "@every" ? "every" : "after", milliseconds };
  }
  return { form: "unknown" };
}

function durationOf(text: string): number {
  return [...text.toLowerCase().matchAll(/(\d+)(ms|[wdhms])/g)].reduce(
    (sum, [, count, unit]) => sum + Number(count) * (UNITS[unit ?? ""] ?? 0),
    0,
  );
}

/** In words; null where the words do not know what our cron does, such as L-3W. */
export function cronInWords(cron: string, language: string): string | null {
  const quartz = cron.trim().split(/\s+/).length > 5;
  try {
    const words = cronstrue.toString(cron, {
      locale: language === "zh" ? "zh_CN" : "en",
      use24HourTimeFormat: true,
      dayOfWeekStartIndexZero: !quartz, // there 1 is Sunday
    });
    // Written for a sentence with blanks; Chinese has none there.
    return language === "zh"
      ? words.replaceAll(/,\s*/g, "，").replaceAll(/(?<=[^\x00-\x7F])\s+|\s+(?=[^\x00-\x7F])/g, "")
      : words;
  } catch {
    return null;
  }
}
