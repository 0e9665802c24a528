// Words: one file a page and language, loaded for the chosen language only. A test compares both and what is used.
import i18next from "i18next";
import { initReactI18next } from "react-i18next";

import type { Language } from "../state/preferences";

type Words = Record<string, unknown>;
const languages: Record<Language, () => Promise<{ words: Record<string, Words> }>> = {
  en: () => import("./en"),
  zh: () => import("./zh"),
};

export async function startWords(language: Language): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: false,
    defaultNS: "common",
    ns: ["common"],
    resources: { [language]: (await languages[language]()).words },
    interpolation: { escapeValue: false }, // React escapes
    returnNull: false,
  });
}

export async function speak(language: Language): Promise<void> {
  const { words } = await languages[language]();
  for (const [page, texts] of Object.entries(words)) i18next.addResourceBundle(language, page, texts, true, true);
  await i18next.changeLanguage(language);
  document.documentElement.lang = language === "zh" ? "zh-CN" : "en";
}
