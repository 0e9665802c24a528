// A schedule in words: the server's own in English, and the same said in Chinese.
import { useTranslation } from "react-i18next";

import { usePreferences } from "../../state/preferences";
import { argumentOf, formOf } from "./schedule";
import type { Previewed } from "./usePreview";
import { inWords } from "./words";

/** Null while it cannot be read. */
export function useSentence(schedule: string, preview: Previewed | null): string | null {
  const { t } = useTranslation("editor");
  const { language } = usePreferences();
  const form = formOf(schedule);
  if (form === "cron") return inWords(schedule, language);
  if (preview === null) return null;
  return t(`said.${form}`, { what: argumentOf(schedule) });
}
