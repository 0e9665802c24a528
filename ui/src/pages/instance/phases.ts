// The phases an instance went through, as its log lines tell of them.
import type { Row } from "./log/rows";

export type Phase = { name: string; from: string; to: string };
/** A phase may be a step of thousands: the last ones say where it is. */
const MOST = 12;

export type Phases = { phases: Phase[]; more: boolean };

/** Those of the last attempt, in their order; consecutive rows of one phase are one. */
export function phasesOf(rows: readonly Row[], fenceOf: (seq: number) => number): Phases {
  const last = rows.at(-1);
  if (last === undefined) return { phases: [], more: false };
  const fence = fenceOf(last.seq);
  const phases: Phase[] = [];
  for (let index = rows.length - 1; index >= 0; index -= 1) {
    const row = rows[index];
    if (row === undefined || fenceOf(row.seq) !== fence) break;
    if (row.phase === null) continue;
    const known = phases[0];
    if (known?.name === row.phase) known.from = row.at;
    else if (phases.length === MOST) return { phases, more: true };
    else phases.unshift({ name: row.phase, from: row.at, to: row.at });
  }
  return { phases, more: false };
}
