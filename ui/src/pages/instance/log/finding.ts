// The next or previous row that is wanted: among those that are here, else the server is asked.
import { fits, type Address, type Row } from "./rows";
import { ask, pageOf, type Ask, type View } from "./source";
import { END_OF_LOG } from "./rows";

export type Wanted = { text: string } | { error: true };
export type Direction = "next" | "previous";

export function wants(row: Row, wanted: Wanted): boolean {
  return "text" in wanted ? fits(row, wanted.text) : row.grave === "error" && row.kind === "text";
}

/** The index among the rows; -1 when there is none in that direction. `from` itself is passed over. */
export function findHere(rows: readonly Row[], wanted: Wanted, from: number, direction: Direction): number {
  const step = direction === "next" ? 1 : -1;
  for (let index = from + step; index >= 0 && index < rows.length; index += step) {
    const row = rows[index];
    if (row !== undefined && wants(row, wanted)) return index;
  }
  return -1;
}

/** The line that is next beyond those that are here, wherever it is. */
export async function findThere(
  instance: number,
  view: View,
  wanted: Wanted,
  beyond: number,
  direction: Direction,
  asking: Ask = ask,
): Promise<Address | null> {
  const range = direction === "next" ? { after: beyond } : { before: beyond };
  const asked = "text" in wanted ? { limit: 1, q: wanted.text } : { limit: 1, level: "error" as const };
  const page = await pageOf(asking, instance, view, range, asked);
  const found = direction === "next" ? page.items[0] : page.items.at(-1);
  return found === undefined ? null : { seq: found.seq, part: 0 };
}

/** The last error of all, for what failed. */
export function lastError(instance: number, view: View): Promise<Address | null> {
  return findThere(instance, view, { error: true }, END_OF_LOG, "previous");
}
