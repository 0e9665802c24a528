// The next or previous row that is wanted: among those that are here, else the server is asked.
import { END_OF_LOG, fits, type Address, type Row } from "./rows";
import { ask, pageOf, type Ask, type View } from "./source";

export type Wanted = { text: string } | { error: true };
export type Direction = "next" | "previous";
/** Where it is, that there is none, or up to which line there is none when so much was looked at that it took a rest. */
export type Found = { at: Address } | { at: null; upTo: number | null };

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
): Promise<Found> {
  const range = direction === "next" ? { after: beyond } : { before: beyond };
  const asked = "text" in wanted ? { limit: 1, q: wanted.text } : { limit: 1, level: "error" as const };
  const page = await pageOf(asking, instance, view, range, asked);
  const found = direction === "next" ? page.items[0] : page.items.at(-1);
  if (found !== undefined) return { at: { seq: found.seq, part: 0 } };
  return { at: null, upTo: page.more ? (direction === "next" ? page.next_after : page.next_before) : null };
}

/** The last error of all, for what failed. */
export async function lastError(instance: number, view: View): Promise<Address | null> {
  const { at } = await findThere(instance, view, { error: true }, END_OF_LOG, "previous");
  return at;
}

/** The row of a line that was found there and is here now; some other row of the same chunk may be what was meant. */
export function rowOf(rows: readonly Row[], wanted: Wanted, begin: number, direction: Direction): number {
  let end = begin;
  while (end < rows.length && rows[end]?.seq === rows[begin]?.seq) end += 1;
  const index = findHere(rows, wanted, direction === "next" ? begin - 1 : end, direction);
  return index < 0 ? begin : index;
}
