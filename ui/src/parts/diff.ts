// What differs between two values as they are stored, field by field.
export type Change = { path: string; before: unknown; after: unknown };
export type Line = { mark: " " | "+" | "-"; text: string };

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Fields in the order of what is newer; `undefined` is one that is not there. */
export function changesBetween(before: unknown, after: unknown, path = ""): Change[] {
  if (isRecord(before) && isRecord(after)) {
    const names = [...new Set([...Object.keys(after), ...Object.keys(before)])];
    return names.flatMap((name) => changesBetween(before[name], after[name], path === "" ? name : `${path}.${name}`));
  }
  // Made or deleted as a whole: its fields are easier to read than one long value.
  if (path === "" && isRecord(after) && (before === null || before === undefined)) return changesBetween({}, after);
  if (path === "" && isRecord(before) && (after === null || after === undefined)) return changesBetween(before, {});
  return same(before, after) ? [] : [{ path, before, after }];
}

function same(one: unknown, other: unknown): boolean {
  return one === other || (one !== undefined && other !== undefined && JSON.stringify(one) === JSON.stringify(other));
}

export function asText(value: unknown): string {
  if (value === undefined) return "";
  return typeof value === "string" ? value : JSON.stringify(value, null, Array.isArray(value) ? 0 : 2);
}

const MOST_LINES = 400;

/** Lines of two texts, those that both have once; null when that would take long, or there is only one line each. */
export function lineChanges(before: string, after: string): Line[] | null {
  const [old, young] = [before.split("\n"), after.split("\n")];
  if (Math.max(old.length, young.length) > MOST_LINES || Math.min(old.length, young.length) < 2) return null;
  const common = longestCommon(old, young);
  const lines: Line[] = [];
  let [i, j] = [0, 0];
  while (i < old.length || j < young.length) {
    if (i < old.length && j < young.length && old[i] === young[j]) {
      lines.push({ mark: " ", text: old[i] ?? "" });
      i += 1;
      j += 1;
    } else if (j >= young.length || (i < old.length && (common[i + 1]?.[j] ?? 0) >= (common[i]?.[j + 1] ?? 0))) {
      lines.push({ mark: "-", text: old[i] ?? "" });
      i += 1;
    } else {
      lines.push({ mark: "+", text: young[j] ?? "" });
      j += 1;
    }
  }
  return lines;
}

/** How many lines the rests from i and j have in common, in order. */
function longestCommon(old: string[], young: string[]): number[][] {
  const table = Array.from({ length: old.length + 1 }, () => new Array<number>(young.length + 1).fill(0));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = young.length - 1; j >= 0; j -= 1) {
      const row = table[i];
      if (row === undefined) continue;
      const [down, right, both] = [table[i + 1]?.[j] ?? 0, row[j + 1] ?? 0, table[i + 1]?.[j + 1] ?? 0];
      row[j] = old[i] === young[j] ? both + 1 : Math.max(down, right);
    }
  }
  return table;
}
