// Where in a log somebody is, as the server's stream takes it. Callbacks number their lines above those of the executor,
// whose own may still come beneath: while both write, a place has two ends.
import { END_OF_LOG, FIRST_OF_CALLBACKS, fenceOf, OF_ONE_ATTEMPT } from "./rows";
import type { Ask } from "./source";

type Numbered = { seq: number };

export const isCallback = (seq: number): boolean => seq >= 0 && seq % OF_ONE_ATTEMPT >= FIRST_OF_CALLBACKS;

const highest = (chunks: readonly Numbered[], least: number): number =>
  chunks.reduce((most, { seq }) => Math.max(most, seq), least);

/** The last line that the executor itself wrote, before which nothing comes any more. */
export function ownEnd(chunks: readonly Numbered[]): number {
  const last = highest(chunks, -1);
  if (!isCallback(last)) return last;
  const begin = fenceOf(last) * OF_ONE_ATTEMPT;
  return highest(
    chunks.filter(({ seq }) => seq >= begin && !isCallback(seq)),
    begin - 1,
  );
}

/** Where somebody is who has read these. */
export function placeAfter(chunks: readonly Numbered[]): string {
  const last = highest(chunks, -1);
  return isCallback(last) ? `${ownEnd(chunks)}:${last}` : String(last);
}

/** Where the log ends now. */
export async function askPlace(asking: Ask, instance: number): Promise<string> {
  const { items } = await asking(instance, { before: END_OF_LOG, limit: 1 });
  const last = items.at(-1);
  if (last === undefined || !isCallback(last.seq)) return placeAfter(items);
  const begin = fenceOf(last.seq) * OF_ONE_ATTEMPT;
  const own = await asking(instance, { after: begin - 1, before: begin + FIRST_OF_CALLBACKS, limit: 1 });
  return placeAfter([...own.items, last]);
}
