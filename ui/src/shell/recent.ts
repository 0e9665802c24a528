// Where somebody was lately, in this tab: offered by the search.
import { create } from "../state/store";

export type Visit = { path: string; title: string };
const KEY = "hourhand.recent";
const KEPT = 12;

export const recent = create<readonly Visit[]>(read());

function read(): readonly Visit[] {
  try {
    const kept = JSON.parse(sessionStorage.getItem(KEY) ?? "[]") as Visit[];
    return Array.isArray(kept) ? kept.filter(({ path, title }) => Boolean(path) && Boolean(title)) : [];
  } catch {
    return []; // a browser that keeps nothing, or something else wrote there
  }
}

function keep(visits: readonly Visit[]): void {
  recent.set(visits);
  try {
    sessionStorage.setItem(KEY, JSON.stringify(visits));
  } catch {
    // It holds until the page is loaded anew.
  }
}

/** The newest first, each once. */
export function after(visits: readonly Visit[], visit: Visit): Visit[] {
  return [visit, ...visits.filter((one) => one.path !== visit.path)].slice(0, KEPT);
}

export function visited(visit: Visit): void {
  keep(after(recent.get(), visit));
}

/** Whoever signs in next is not told where somebody else was. */
export function forgetVisits(): void {
  keep([]);
}
