// Figures as people read them.
import { lengthOf } from "../../time/format";

const UNITS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

/** 312 KiB; the units are the same in every language. */
export function bytesOf(bytes: number): string {
  let value = bytes;
  let unit = 0;
  while (value >= 1_024 && unit < UNITS.length - 1) {
    value /= 1_024;
    unit += 1;
  }
  const digits = unit === 0 || value >= 100 ? 0 : 1;
  return `${value.toFixed(digits).replace(/\.0$/, "")} ${UNITS[unit] ?? ""}`;
}

export function countOf(count: number): string {
  return count.toLocaleString("en-US", { maximumFractionDigits: 2 });
}

export type Fact = { name: string; text: string };
/** Told elsewhere: by a button, and by the log. */
const ELSEWHERE = /^(undo(_.*)?|plan_hash)$/;
const LONGEST_LIST = 8;

/** What an operation summed up, a line a figure; what is empty says nothing, and what is deep is shown as JSON. */
export function factsOf(summary: Record<string, unknown> | null | undefined): {
  facts: Fact[];
  rest: Record<string, unknown>;
} {
  const facts: Fact[] = [];
  const rest: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(summary ?? {})) {
    if (ELSEWHERE.test(name) || value === null || value === "") continue;
    const text = written(name, value);
    if (text === null) rest[name] = value;
    else if (text !== "") facts.push({ name: name.replaceAll("_", " "), text });
  }
  return { facts, rest };
}

function written(name: string, value: unknown): string | null {
  if (typeof value === "number") {
    if (/(^|_)bytes($|_)/.test(name)) return bytesOf(value);
    if (name.endsWith("_ms")) return lengthOf(value);
    return countOf(value);
  }
  if (typeof value === "string" || typeof value === "boolean") return String(value);
  if (Array.isArray(value) && value.length <= LONGEST_LIST) {
    const items: unknown[] = value;
    if (items.every((one) => typeof one === "string" || typeof one === "number")) return items.join(", ");
  }
  return null;
}
