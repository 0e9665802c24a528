// One task that fails every minute must not hide the others: of each a few of the newest, and how many there are more.
export type Few<T> = { one: T } | { task: T; more: number };

export function fewOfEach<T extends { task_id: number }>(items: readonly T[], most: number, rows: number): Few<T>[] {
  const of = new Map<number, T[]>();
  for (const one of items) of.set(one.task_id, [...(of.get(one.task_id) ?? []), one]);
  const found: Few<T>[] = [];
  const shown = new Map<number, number>();
  for (const one of items) {
    const count = (shown.get(one.task_id) ?? 0) + 1;
    shown.set(one.task_id, count);
    if (count <= most) found.push({ one });
    const all = of.get(one.task_id) ?? [];
    if (count === most && all.length > most) found.push({ task: one, more: all.length - most });
  }
  return found.slice(0, rows);
}
