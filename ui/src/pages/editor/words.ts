// A cron expression in words, and days of the week.
import cronstrue from "cronstrue";
import "cronstrue/locales/zh_CN";

import type { Language } from "../../state/preferences";
import { partsOf } from "./schedule";

/** Null for what cannot be read: the server says what is wrong with it. */
export function inWords(cron: string, language: Language): string | null {
  const parts = partsOf(cron);
  if (parts === null) return null;
  const quartz = "second" in parts;
  const fields = [parts.second, parts.minute, parts.hour, parts.day, parts.month, parts.weekday, parts.year];
  try {
    return cronstrue.toString(fields.filter((field) => field !== undefined).join(" "), {
      locale: language === "zh" ? "zh_CN" : "en",
      use24HourTimeFormat: true,
      verbose: false,
      // Sunday is 0 in Vixie cron and 1 in Quartz.
      dayOfWeekStartIndexZero: !quartz,
    });
  } catch {
    return null;
  }
}

/** The day of the week of an instant in a zone, short. */
export function weekdayOf(instant: Date, zone: string, language: Language): string {
  try {
    return new Intl.DateTimeFormat(language, { timeZone: zone, weekday: "short" }).format(instant);
  } catch {
    return "";
  }
}
