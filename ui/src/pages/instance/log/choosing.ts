// Which rows somebody has chosen, by mouse or by keys.
import { addressOf, type Address, type Row } from "./rows";

/** A line, or all from it to another; as it stands in the address. */
export type Choice = { line: Address; to: Address | null };
export type Chosen = { from: number; to: number } | null;

function indexOf(rows: readonly Row[], { seq, part }: Address): number {
  return rows.findIndex((row) => row.seq === seq && row.part === part);
}

export function chosenRows(rows: readonly Row[], choice: Choice | null): Chosen {
  if (choice === null) return null;
  const from = indexOf(rows, choice.line);
  if (from < 0) return null;
  const until = choice.to === null ? from : indexOf(rows, choice.to);
  return until < 0 ? { from, to: from } : { from: Math.min(from, until), to: Math.max(from, until) };
}

/** After a click on a row; `extend`: from what was chosen before to there. */
export function clicked(choice: Choice | null, { seq, part }: Address, extend: boolean): Choice {
  return extend && choice !== null ? { line: choice.line, to: { seq, part } } : { line: { seq, part }, to: null };
}

/** After an arrow: the row beside the one chosen last, or `start` when none is. Null at an end. */
export function stepped(
  rows: readonly Row[],
  choice: Choice | null,
  step: 1 | -1,
  { start, extend }: { start: number; extend: boolean },
): { choice: Choice; index: number } | null {
  const now = choice === null ? -1 : indexOf(rows, choice.to ?? choice.line);
  let index = now < 0 ? start : now + step;
  while (rows[index]?.kind === "attempt") index += now < 0 ? 1 : step; // a heading is no line
  const row = rows[index];
  return row === undefined ? null : { choice: clicked(now < 0 ? null : choice, row, extend), index };
}

/** As parameters of the address. */
export function addressed({ line, to }: Choice): { line: string; to: string | null } {
  return { line: addressOf(line), to: to === null ? null : addressOf(to) };
}
