// What changes elsewhere: one stream a tab, whose events only say what to fetch again.
import type { QueryClient } from "@tanstack/react-query";
import { create } from "../state/store";

import { begins } from "./queries";
import { whileSeen } from "./seen";

/** Which paths are worth fetching again when something of a topic has changed. */
export const TOPICS: Record<string, readonly string[]> = {
  tasks: ["/api/v1/tasks", "/api/v1/schedules", "/api/v1/stats/tasks"],
  instances: ["/api/v1/instances", "/api/v1/execution-logs", "/api/v1/stats", "/api/v1/tasks/graph"],
  executors: ["/api/v1/executors", "/api/v1/stats/overview"],
  groups: ["/api/v1/groups"],
  pauses: ["/api/v1/pauses", "/api/v1/maintenance-windows", "/api/v1/schedules", "/api/v1/tasks/graph"],
  alerts: ["/api/v1/alerts", "/api/v1/alert-rules"],
};
const GATHERED = 1_000;

/** Whether events come in; shown in the header. */
export const connection = create<"live" | "away">("away");

/** Listen until the answer is called. Changes are gathered for a second, so that a busy server is not asked all the time. */
export function listen(queries: QueryClient, limited: boolean): () => void {
  const topics = Object.keys(TOPICS).filter((topic) => !limited || topic !== "alerts");
  let source: EventSource | null = null;
  let again: number | undefined;
  let timer: number | undefined;
  const changed = new Set<string>();

  function flush() {
    timer = undefined;
    if (document.hidden) return; // fetched when somebody looks again: React Query refetches on focus
    const topicsNow = [...changed];
    changed.clear();
    const under = (topic: string) => ({
      predicate: (query: { queryKey: readonly unknown[] }) => begins(query.queryKey[0], TOPICS[topic] ?? []),
    });
    // What is on its way may be older than the change: it is asked for once more when it is here. Cutting it off would
    // mean, on a busy server, that a slow answer never comes.
    const underway = topicsNow.filter((topic) => queries.isFetching(under(topic)) > 0);
    for (const topic of topicsNow) void queries.invalidateQueries(under(topic), { cancelRefetch: false });
    underway.forEach(note);
  }

  function note(topic: string) {
    changed.add(topic);
    timer ??= window.setTimeout(flush, GATHERED);
  }

  function open() {
    source = new EventSource(`/api/v1/events?topics=${topics.join(",")}`);
    source.addEventListener("hello", () => {
      connection.set("live");
      topics.forEach(note); // what happened while nobody listened is told to nobody
    });
    for (const topic of topics) source.addEventListener(topic, () => note(topic));
    source.addEventListener("error", () => {
      connection.set("away");
      // A browser gives up for good on an answer that is no stream, such as a 503.
      if (source?.readyState === EventSource.CLOSED) again = window.setTimeout(open, 5_000);
    });
  }

  const wake = () => {
    if (!document.hidden && changed.size > 0) flush();
  };
  document.addEventListener("visibilitychange", wake);
  const forget = whileSeen(open, () => {
    window.clearTimeout(again);
    source?.close();
    connection.set("away");
  });
  return () => {
    document.removeEventListener("visibilitychange", wake);
    window.clearTimeout(timer);
    forget();
  };
}
