// What an event of the server makes worth fetching again, and how often at most.

/** Which paths are worth fetching again when something of a topic has changed. */
export const TOPICS: Record<string, readonly string[]> = {
  tasks: ["/api/v1/tasks", "/api/v1/schedules", "/api/v1/stats/tasks"],
  instances: ["/api/v1/instances", "/api/v1/stats", "/api/v1/tasks/graph"],
  executors: ["/api/v1/executors", "/api/v1/stats/overview"],
  groups: ["/api/v1/groups"],
  pauses: ["/api/v1/pauses", "/api/v1/maintenance-windows", "/api/v1/schedules", "/api/v1/tasks/graph"],
  alerts: ["/api/v1/alerts", "/api/v1/alert-rules"],
};

/** The parameter by which a path speaks of one thing of the topic. */
const ONE: Record<string, string> = { tasks: "task_id", instances: "instance_id", groups: "group_id" };

/** What has changed of a topic: these things, or nobody knows which. */
export type Changed = Map<string, Set<number> | "unknown">;
/** How a page is kept: its path, then its parameters; a list read page by page has them elsewhere, and names no thing. */
type Key = readonly unknown[];

/** Remember that something of a topic has changed; `data` is the event's. */
export function note(changed: Changed, topic: string, data: string): void {
  const before = changed.get(topic);
  const ids = idsOf(data);
  if (ids === null || before === "unknown") changed.set(topic, "unknown");
  else changed.set(topic, new Set([...(before ?? []), ...ids]));
}

function idsOf(data: string): number[] | null {
  try {
    const { ids } = JSON.parse(data) as { ids?: number[] };
    return ids ?? null;
  } catch {
    return null;
  }
}

/** Whether what is kept under this key may be another now. */
export function concerns(changed: Changed, key: Key): boolean {
  return [...changed].some(([topic, ids]) => {
    if (!begins(key[0], TOPICS[topic] ?? [])) return false;
    const one = thing(key, ONE[topic]);
    return one === null || ids === "unknown" || ids.has(one);
  });
}

function thing(key: Key, parameter: string | undefined): number | null {
  if (parameter === undefined) return null;
  const params = key[1] as { path?: Record<string, unknown> } | undefined;
  const value = Number(params?.path?.[parameter]);
  return Number.isInteger(value) ? value : null;
}

/** Milliseconds between two fetches that events may cause: what is dear to compute is asked for less often. */
const PACES: readonly (readonly [string, number])[] = [
  ["/api/v1/stats/overview", 2_000],
  ["/api/v1/stats", 5_000],
  ["/api/v1/tasks/graph", 5_000],
  ["/api/v1/schedules", 5_000],
];
const USUAL = 1_000;
/** Of a whole month by a zone's clock: where that is half an hour off, a month is added up from its minutes. */
export const BY_A_CLOCK = 60_000;

/** `pages`: a list that was read in so many pages is fetched in as many requests. */
export function paceOf(key: Key, pages = 1): number {
  const query = (key[1] as { query?: Record<string, unknown> } | undefined)?.query;
  if (key[0] === "/api/v1/stats/series" && query?.timezone !== undefined) return BY_A_CLOCK;
  const found = PACES.find(([beginning]) => begins(key[0], [beginning]));
  return (found?.[1] ?? USUAL) * Math.max(1, pages);
}

export function begins(path: unknown, beginnings: readonly string[]): boolean {
  return typeof path === "string" && beginnings.some((beginning) => path.startsWith(beginning));
}
