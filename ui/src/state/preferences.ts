// What somebody chose to see: kept in this browser only.
import { create, useStore } from "./store";

export type Theme = "system" | "light" | "dark";
export type Language = "en" | "zh";
/** Whose clock times are shown by: the task's own, UTC, or this browser's. */
export type Clock = "task" | "utc" | "browser";
export type Preferences = { theme: Theme; language: Language; clock: Clock };

const KEY = "hourhand.preferences";

function first(): Preferences {
  const chosen = read();
  const spoken: Language = navigator.language.toLowerCase().startsWith("zh") ? "zh" : "en";
  return {
    theme: chosen.theme === "light" || chosen.theme === "dark" ? chosen.theme : "system",
    language: chosen.language === "en" || chosen.language === "zh" ? chosen.language : spoken,
    clock: chosen.clock === "utc" || chosen.clock === "task" ? chosen.clock : "browser",
  };
}

function read(): Partial<Preferences> {
  try {
    return JSON.parse(localStorage.getItem(KEY) ?? "{}") as Partial<Preferences>;
  } catch {
    return {}; // a browser that keeps nothing, or something else wrote there
  }
}

const preferences = create<Preferences>(first());

export function choose(change: Partial<Preferences>): void {
  preferences.set({ ...preferences.get(), ...change });
  try {
    localStorage.setItem(KEY, JSON.stringify(preferences.get()));
  } catch {
    // It holds until the tab is closed, which is better than nothing.
  }
}

export function chosen(): Preferences {
  return preferences.get();
}

export function usePreferences(): Preferences {
  return useStore(preferences);
}

const darkness = matchMedia("(prefers-color-scheme: dark)");
const system = create(darkness.matches);
darkness.addEventListener("change", () => system.set(darkness.matches));

/** Whether to draw dark, by choice or as the system is. */
export function useDark(): boolean {
  const { theme } = usePreferences();
  const systemDark = useStore(system);
  return theme === "dark" || (theme === "system" && systemDark);
}
