// Rows as text, and the whole log as text where it is not too much.
import { plainOf } from "./ansi";
import type { Row } from "./rows";

/** More than this is not for a clipboard. */
export const MOST_COPIED = 8_000_000;

/** As it was written: what was cut into rows for being long is one line again. */
export function textOf(rows: readonly Row[]): string {
  return rows
    .filter((row) => row.kind !== "attempt")
    .map((row, number, all) => plainOf(row.text) + (row.broken || number === all.length - 1 ? "" : "\n"))
    .join("");
}

/** The text of an answer, or null when it is longer than so many bytes, of which no more is read then. */
export async function readUpTo(answer: Response, most: number): Promise<string | null> {
  const reader = answer.body?.getReader();
  if (reader === undefined) return "";
  const decoder = new TextDecoder();
  let [text, read] = ["", 0];
  for (;;) {
    const { done, value } = (await reader.read()) as ReadableStreamReadResult<Uint8Array>;
    if (done) return text + decoder.decode();
    read += value.byteLength;
    if (read > most) {
      await reader.cancel();
      return null;
    }
    text += decoder.decode(value, { stream: true });
  }
}

/** Whether it is on the clipboard now; a page that did not come by https has none. */
export async function copied(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return false;
  }
}
