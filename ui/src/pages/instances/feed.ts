// The rows of an endless list: what was fetched, page by page. What is far from the window is forgotten, not its length.
import type { components } from "../../api/schema";

export type Instance = components["schemas"]["Instance"];
export type Answered = { items: readonly Instance[]; next_cursor?: string | null };

/** One page; without rows once they were forgotten, and fetched again with the same cursor when somebody looks there. */
export type Stretch = { cursor: string | null; ids: readonly number[]; rows: readonly Instance[] | null };
export type Feed = { stretches: readonly Stretch[]; next: string | null };

/** So many rows are remembered. */
export const MOST = 2_000;

const idsOf = (rows: readonly Instance[]) => rows.map((row) => row.id);
const stretch = (cursor: string | null, rows: readonly Instance[]): Stretch => ({ cursor, ids: idsOf(rows), rows });

export function begin(head: Answered): Feed {
  return { stretches: [stretch(null, head.items)], next: head.next_cursor ?? null };
}

export function sizeOf(feed: Feed): number {
  return feed.stretches.reduce((sum, one) => sum + one.ids.length, 0);
}

export function remembered(feed: Feed): number {
  return feed.stretches.reduce((sum, one) => sum + (one.rows?.length ?? 0), 0);
}

/** What lives when it is first fetched and has ended by the next page would be told twice: the first place stays. */
export function append(feed: Feed, page: Answered): Feed {
  const known = new Set(feed.stretches.flatMap((one) => one.ids));
  const rows = page.items.filter((row) => !known.has(row.id));
  const added = rows.length === 0 ? [] : [stretch(feed.next, rows)];
  return { stretches: [...feed.stretches, ...added], next: page.next_cursor ?? null };
}

/** Remember again what was forgotten. */
export function refill(feed: Feed, number: number, page: Answered): Feed {
  const elsewhere = new Set(feed.stretches.flatMap((one, at) => (at === number ? [] : one.ids)));
  const rows = page.items.filter((row) => !elsewhere.has(row.id));
  const stretches = feed.stretches.map((one, at) => (at === number ? stretch(one.cursor, rows) : one));
  return { ...feed, stretches };
}

/** The stretches that lie between two rows, both included. */
export function between(feed: Feed, first: number, last: number): number[] {
  const found: number[] = [];
  let start = 0;
  feed.stretches.forEach((one, number) => {
    const end = start + one.ids.length;
    if (end > first && start <= last) found.push(number);
    start = end;
  });
  return found;
}

/** Forget what is farthest from the window until few enough are left. */
export function forget(feed: Feed, first: number, last: number, most = MOST): Feed {
  let over = remembered(feed) - most;
  if (over <= 0) return feed;
  const near = between(feed, first, last);
  const [low, high] = [near[0] ?? 0, near.at(-1) ?? 0];
  const distance = (number: number) => Math.max(low - number, number - high, 0);
  const farthest = feed.stretches.map((_, number) => number).sort((one, other) => distance(other) - distance(one));
  const gone = new Set<number>();
  for (const number of farthest) {
    if (over <= 0 || distance(number) === 0) break;
    over -= feed.stretches[number]?.rows?.length ?? 0;
    gone.add(number);
  }
  return {
    ...feed,
    stretches: feed.stretches.map((one, number) => (gone.has(number) ? { ...one, rows: null } : one)),
  };
}

export function rowAt(feed: Feed, index: number): { id: number; row: Instance | null } | null {
  let start = 0;
  for (const one of feed.stretches) {
    const id = one.ids[index - start];
    if (id !== undefined) return { id, row: one.rows?.[index - start] ?? null };
    start += one.ids.length;
  }
  return null;
}

/** Show rows as they are now, each where it is. */
export function update(feed: Feed, rows: readonly Instance[]): Feed {
  const now = new Map(rows.map((row) => [row.id, row]));
  const stretches = feed.stretches.map((one) => {
    if (!one.rows?.some((row) => now.has(row.id) && now.get(row.id) !== row)) return one;
    return { ...one, rows: one.rows.map((row) => now.get(row.id) ?? row) };
  });
  return stretches.some((one, number) => one !== feed.stretches[number]) ? { ...feed, stretches } : feed;
}

/** How many of the newest are not in the list yet. */
export function newIn(feed: Feed, head: Answered): number {
  const known = new Set(feed.stretches.flatMap((one) => one.ids));
  return head.items.filter((row) => !known.has(row.id)).length;
}

/**
 * The list with the newest page at its top. Behind a full page the rest is fetched anew when somebody goes there; a short
 * one was looked for at length, so what was found behind it stays.
 */
export function renew(feed: Feed, head: Answered, limit: number): Feed {
  const next = head.next_cursor ?? null;
  if (next === null || head.items.length >= limit) return begin(head);
  const told = new Set(idsOf(head.items));
  const last = head.items.at(-1);
  const older = feed.stretches
    .flatMap((one) => one.rows ?? [])
    .filter((row) => !told.has(row.id) && (last === undefined || isBehind(row, last)));
  return { stretches: [stretch(null, [...head.items, ...older])], next: feed.next };
}

/** Whether it comes later in the list: the living first, the newest first. */
function isBehind(row: Instance, other: Instance): boolean {
  if (row.end_time === null || other.end_time === null) {
    return row.end_time === other.end_time ? row.id < other.id : row.end_time !== null;
  }
  const [at, otherAt] = [Date.parse(row.end_time), Date.parse(other.end_time)];
  return at === otherAt ? (row.log_id ?? 0) < (other.log_id ?? 0) : at < otherAt;
}
