// Keys in lists: `j` and `k` go down and up, Enter follows what has the focus, `x` selects. Whatever draws the rows.
const ROWS = "main .ant-table-row, main [role='rowgroup'] > [role='row'], main table.rows tbody tr";
const ENTRY = "a[href], button:not(:disabled), summary";

/** Go to the next row, or the one before; whether there was one. */
export function step(by: 1 | -1): boolean {
  const rows = [...document.querySelectorAll<HTMLElement>(ROWS)].filter((row) => row.offsetParent !== null);
  if (rows.length === 0) return false;
  const here = rows.findIndex((row) => row.contains(document.activeElement));
  const next = here < 0 ? rows[by === 1 ? 0 : rows.length - 1] : rows[here + by];
  if (next === undefined) return true; // at an end: stay
  const entry = next.querySelector<HTMLElement>(ENTRY) ?? next;
  if (entry === next) next.tabIndex = -1;
  entry.focus();
  next.scrollIntoView({ block: "nearest" });
  return true;
}

/** Select the row that has the focus, or no longer; whether there is one. */
export function select(): boolean {
  const box = document.activeElement?.closest(ROWS)?.querySelector<HTMLElement>("input[type='checkbox']");
  box?.click();
  return box !== undefined && box !== null;
}
