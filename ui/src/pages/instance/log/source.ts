// Where rows come from: pages of the log, whole or only what matters, in both directions.
import { fetchPath } from "../../../api/queries";
import type { components } from "../../../api/schema";
import { END_OF_LOG, fenceOf, graveOf, OF_ONE_ATTEMPT, type Chunk } from "./rows";

export type Page = components["schemas"]["Lines"];
/** What of the log is wanted: `stderr` are the errors of a log that marks none, as those of commands do. */
export type View = { only: "all" | "errors" | "stderr"; fence: number | null };
export type Range = { after: number } | { before: number };
/** Rounds of a search that finds nothing: the server looks at 20,000 lines in each. */
const ROUNDS = 50;

export function belongs(chunk: Chunk, view: View): boolean {
  if (view.fence !== null && fenceOf(chunk.seq) !== view.fence) return false;
  if (view.only === "errors") return graveOf(chunk) === "error";
  return view.only === "all" || chunk.stream === "stderr" || graveOf(chunk) === "error";
}

export type Asked = { limit: number; q?: string; level?: "error" };
export type Ask = (instance: number, query: Asked & { after?: number; before?: number }) => Promise<Page>;

export const ask: Ask = (instance, query) =>
  fetchPath("/api/v1/instances/{instance_id}/logs", { path: { instance_id: instance }, query });

/** One page that has something on it, unless there is nothing. */
export async function pageOf(asking: Ask, instance: number, view: View, range: Range, asked: Asked): Promise<Page> {
  const least = view.fence === null ? -1 : view.fence * OF_ONE_ATTEMPT - 1;
  const most = view.fence === null ? END_OF_LOG : (view.fence + 1) * OF_ONE_ATTEMPT;
  const level = view.only === "all" ? asked.level : "error"; // what was written to stderr is one to the server
  const backwards = "before" in range;
  let after = backwards ? least : Math.max(least, range.after);
  let before = backwards ? Math.min(most, range.before) : most;
  for (let round = 1; ; round += 1) {
    const page = await asking(instance, {
      ...asked,
      ...(level === undefined ? {} : { level }),
      after,
      ...(backwards ? { before } : {}),
    });
    const items = page.items.filter((chunk) => belongs(chunk, view));
    // Forwards a page may reach into the next attempt; what lies there is not wanted, and nothing is behind it.
    const left = !backwards && page.next_after >= most;
    const more = page.more && !left;
    // To the server what was written to stderr is an error too: where there is only that, nothing is marked as one.
    const unmarked = view.only === "errors" && page.items.length > 0;
    if (items.length > 0 || !more || unmarked || round === ROUNDS) return { ...page, items, more };
    if (backwards) before = page.next_before ?? before;
    else after = page.next_after;
  }
}
