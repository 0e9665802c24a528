// words of instances
// Which columns fit: the least important leave first, unless somebody has chosen.
import { create } from "../../state/store";

export type Column = {
  name: string;
  /** Of its text. */
  label: string;
  width: number;
  /** Its share of what is left over. */
  grow?: number;
  /** The higher, the sooner it leaves; without, it always stays. */
  rank?: number;
  number?: boolean;
  time?: boolean;
};

export const COLUMNS: readonly Column[] = [
  { name: "status", label: "column.status", width: 98 },
  { name: "id", label: "column.id", width: 74, number: true },
  { name: "task", label: "column.task", width: 150, grow: 2 },
  { name: "message", label: "column.message", width: 240, grow: 5 },
  { name: "scheduled", label: "column.scheduled", width: 110, rank: 4, time: true },
  { name: "started", label: "column.started", width: 110, rank: 9, time: true },
  { name: "ended", label: "column.ended", width: 110, rank: 1, time: true },
  { name: "duration", label: "column.duration", width: 84, rank: 2, number: true },
  { name: "attempts", label: "column.attempts", width: 72, rank: 3, number: true },
  { name: "group", label: "column.group", width: 96, rank: 5, grow: 1 },
  { name: "executor", label: "column.executor", width: 104, rank: 6, grow: 1 },
  { name: "triggered", label: "column.triggered", width: 84, rank: 7 },
  { name: "priority", label: "column.priority", width: 62, rank: 8, number: true },
];
export const SELECT = 34;
export const ACTIONS = 84;
export const OPTIONAL = COLUMNS.filter((column) => column.rank !== undefined);

export function shownIn(width: number, chosen: readonly string[] | null): readonly Column[] {
  if (chosen !== null) return COLUMNS.filter((column) => column.rank === undefined || chosen.includes(column.name));
  const sum = (columns: readonly Column[]) => columns.reduce((total, one) => total + one.width, SELECT + ACTIONS);
  let shown = [...COLUMNS];
  while (sum(shown) > width) {
    const last = Math.max(...shown.map((one) => one.rank ?? 0));
    if (last === 0) break;
    shown = shown.filter((one) => one.rank !== last);
  }
  return shown;
}

/** How a row is laid out, and how narrow it can get. */
export function layoutOf(columns: readonly Column[], selectable: boolean): { template: string; least: number } {
  const middle = columns.map(({ width, grow }) => (grow ? `minmax(${width}px, ${grow}fr)` : `${width}px`));
  const sides = selectable ? SELECT + ACTIONS : 0;
  return {
    template: [...(selectable ? [`${SELECT}px`] : []), ...middle, ...(selectable ? [`${ACTIONS}px`] : [])].join(" "),
    least: columns.reduce((total, one) => total + one.width, sides),
  };
}

const KEY = "hourhand.instances.columns";

function kept(): readonly string[] | null {
  try {
    const names: unknown = JSON.parse(localStorage.getItem(KEY) ?? "null");
    return Array.isArray(names) ? names.filter((name) => typeof name === "string") : null;
  } catch {
    return null; // a browser that keeps nothing, or something else wrote there
  }
}

export const chosenColumns = create<readonly string[] | null>(kept());

/** Null: whatever fits. */
export function chooseColumns(names: readonly string[] | null): void {
  chosenColumns.set(names);
  try {
    if (names === null) localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, JSON.stringify(names));
  } catch {
    // It holds until the tab is closed.
  }
}
