// What an instance wrote, as rows of the same height: the server keeps chunks, which may hold many lines or part of one.
import type { components } from "../../../api/schema";
import { plainOf } from "./ansi";

export type Chunk = components["schemas"]["LogLine"];
export type Grave = "error" | "warning" | "debug" | null;
export type Row = {
  /** Tells it from all others, wherever in the window it is. */
  key: string;
  seq: number;
  /** Which row of its chunk. */
  part: number;
  text: string;
  at: string;
  stream: string | null;
  phase: string | null;
  grave: Grave;
  kind: "text" | "trace" | "attempt";
  /** Its line goes on in the next row. */
  broken: boolean;
};

export const OF_ONE_ATTEMPT = 2 ** 32;
export const FIRST_OF_CALLBACKS = 2 ** 31;
export const END_OF_LOG = 2 ** 53;
/** A longer line goes on in the next row: one of a megabyte must not become one element. */
export const LONGEST = 2_000;
const ERRORS = ["error", "critical", "fatal"];
const WARNINGS = ["warning", "warn"];
const SLIGHT = ["debug", "trace", "notset"];
// Commands that move the cursor, set titles and the like mean nothing here; colours (…m) are kept for later.
const MOVES =
  /\u001b(?:\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|\[[0-9;?]*[A-HJKSTfhlnsu]|[()][A-Z0-9]|[=>78cDEHMNOPZ])/g;
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001a\u001c-\u001f\u007f]/g;

export const fenceOf = (seq: number): number => Math.floor(seq / OF_ONE_ATTEMPT);

export function graveOf(chunk: Chunk): Grave {
  const level = chunk.level.toLowerCase();
  if (chunk.exception !== null || ERRORS.includes(level)) return "error";
  if (WARNINGS.includes(level)) return "warning";
  return SLIGHT.includes(level) ? "debug" : null;
}

export function rowsOf(chunk: Chunk): Row[] {
  const rows: Row[] = [];
  const grave = graveOf(chunk);
  const { seq, logged_at: at, stream, phase } = chunk;
  const add = (text: string, kind: Row["kind"]) => {
    pieces(seen(text)).forEach((piece, number, all) => {
      const broken = number < all.length - 1;
      const part = rows.length;
      rows.push({ key: `${seq}.${part}`, seq, part, text: piece, at, stream, phase, grave, kind, broken });
    });
  };
  for (const line of linesOf(chunk.message)) add(line, "text");
  if (chunk.exception !== null) for (const line of linesOf(chunk.exception)) add(line, "trace");
  // The first that an attempt wrote: its number says so, whatever else is loaded.
  if (seq % OF_ONE_ATTEMPT === 0) {
    rows.unshift({
      key: `${seq}.-1`,
      seq,
      part: -1,
      text: "",
      at,
      stream: null,
      phase: null,
      grave: null,
      kind: "attempt",
      broken: false,
    });
  }
  return rows;
}

function linesOf(text: string): string[] {
  return text.replace(/\r?\n$/, "").split("\n");
}

/** As a terminal would leave it: what was written over is gone, and what cannot be seen is made visible. */
export function seen(line: string): string {
  const kept = line.includes("\r") ? (line.split("\r").findLast((piece) => piece !== "") ?? "") : line;
  const still = kept.includes("\u001b") ? kept.replace(MOVES, "") : kept;
  return still.replace(CONTROL, (control) =>
    control === "\u007f" ? "\u2421" : String.fromCharCode(0x2400 + control.charCodeAt(0)),
  );
}

function pieces(text: string): string[] {
  if (text.length <= LONGEST) return [text];
  const all: string[] = [];
  for (let begin = 0; begin < text.length;) {
    let end = Math.min(begin + LONGEST, text.length);
    const last = text.charCodeAt(end - 1);
    if (end < text.length && last >= 0xd800 && last <= 0xdbff) end += 1; // not through a character
    all.push(text.slice(begin, end));
    begin = end;
  }
  return all;
}

/** What stands in the margin: the chunk's number in its attempt and, where it has several rows, which of them. */
export function numberOf({ seq, part }: Address): string {
  if (part < 0) return "";
  const counter = seq % OF_ONE_ATTEMPT;
  const number = counter >= FIRST_OF_CALLBACKS ? `c${counter - FIRST_OF_CALLBACKS + 1}` : String(counter + 1);
  return part > 0 ? `${number}.${part}` : number;
}

/** The address of a row: `SEQ` or `SEQ.PART`. */
export type Address = { seq: number; part: number };

export function addressOf({ seq, part }: Address): string {
  return part > 0 ? `${seq}.${part}` : String(seq);
}

export function readAddress(text: string | undefined): Address | null {
  const found = /^(\d{1,16})(?:\.(\d{1,6}))?$/.exec(text ?? "");
  if (found === null) return null;
  const seq = Number(found[1]);
  return seq > END_OF_LOG ? null : { seq, part: Number(found[2] ?? 0) };
}

/** The row to look at first of what failed: an error, else what the message quotes, else the last of stderr. */
export function failingRow(rows: readonly Row[], message: string | null): number {
  const error = rows.findLastIndex((row) => row.grave === "error" && row.kind === "text");
  if (error >= 0) return error;
  const said = (message ?? "").trim();
  const quoted = rows.findLastIndex((row) => row.text.trim().length > 3 && said.includes(row.text.trim()));
  if (quoted >= 0) return quoted;
  const stderr = rows.findLastIndex((row) => row.stream === "stderr");
  return stderr >= 0 ? stderr : rows.length - 1;
}

export function fits(row: Row, wanted: string): boolean {
  return row.kind !== "attempt" && plainOf(row.text).toLowerCase().includes(wanted.toLowerCase());
}
