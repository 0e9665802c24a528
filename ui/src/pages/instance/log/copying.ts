// Rows as text, and which of them somebody has chosen.
import { plainOf } from "./ansi";
import type { Address, Row } from "./rows";

export type Chosen = { from: number; to: number } | null;

/** As it was written: what was cut into rows for being long is one line again. */
export function textOf(rows: readonly Row[]): string {
  return rows
    .filter((row) => row.kind !== "attempt")
    .map((row, number, all) => plainOf(row.text) + (row.broken || number === all.length - 1 ? "" : "\n"))
    .join("");
}

function indexOf(rows: readonly Row[], { seq, part }: Address): number {
  return rows.findIndex((row) => row.seq === seq && row.part === part);
}

export function chosenRows(rows: readonly Row[], line: Address | null, to: Address | null): Chosen {
  if (line === null) return null;
  const from = indexOf(rows, line);
  if (from < 0) return null;
  const until = to === null ? from : indexOf(rows, to);
  return until < 0 ? { from, to: from } : { from: Math.min(from, until), to: Math.max(from, until) };
}
