// What changes elsewhere: one stream a tab, whose events only say what to fetch again.
import type { Query, QueryClient } from "@tanstack/react-query";

import { create } from "../state/store";
import { keepStream } from "./stream";
import { concerns, note, paceOf, TOPICS, type Changed } from "./topics";

/** Changes are gathered for so long, so that a busy server is not asked all the time. */
const GATHERED = 1_000;

/** Whether events come in; shown in the header. */
export const connection = create<"live" | "away">("away");

/** Listen until the answer is called. */
export function listen(queries: QueryClient, limited: boolean): () => void {
  const topics = Object.keys(TOPICS).filter((topic) => !limited || topic !== "alerts");
  const refresh = refresher(queries);
  const forget = keepStream(
    () => `/api/v1/events?topics=${topics.join(",")}`,
    (source) => {
      source.addEventListener("hello", () => {
        connection.set("live");
        for (const topic of topics) refresh.note(topic, "{}"); // what happened while nobody listened is told to nobody
      });
      for (const topic of topics) {
        source.addEventListener(topic, (event: MessageEvent<string>) => refresh.note(topic, event.data));
      }
    },
    () => connection.set("away"),
  );
  return () => {
    refresh.stop();
    forget();
  };
}

/** Fetches again what events tell of; apart from the stream, so that it can be tried without one. */
export function refresher(queries: QueryClient) {
  const changed: Changed = new Map();
  /** Hashes of what is worth fetching again, but not yet. */
  const owed = new Set<string>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  function flush() {
    timer = undefined;
    if (document.hidden) return; // kept until somebody looks
    for (const query of queries.getQueryCache().getAll()) {
      if (concerns(changed, query.queryKey)) owed.add(query.queryHash);
    }
    changed.clear();
    const now = new Set([...owed].filter((hash) => isTime(queries.getQueryCache().get(hash))));
    for (const hash of now) owed.delete(hash);
    void queries.invalidateQueries({ predicate: (query) => now.has(query.queryHash) }, { cancelRefetch: false });
    if (owed.size > 0) arm();
  }

  function arm() {
    timer ??= setTimeout(flush, GATHERED);
  }

  const wake = () => {
    if (!document.hidden && changed.size + owed.size > 0) flush();
  };
  document.addEventListener("visibilitychange", wake);
  return {
    note(topic: string, data: string) {
      note(changed, topic, data);
      arm();
    },
    stop() {
      document.removeEventListener("visibilitychange", wake);
      clearTimeout(timer);
    },
  };
}

/**
 * What is on its way may be older than the change: it is asked for once more when it is here. Cutting it off would mean,
 * on a busy server, that a slow answer never comes.
 */
function isTime(query: Query | undefined): boolean {
  if (query === undefined || !query.isActive()) return true; // only marked as stale
  if (query.state.fetchStatus === "fetching") return false;
  const pages = (query.state.data as { pages?: unknown[] } | undefined)?.pages?.length;
  // A server that fails to answer is asked no more often than one that does.
  const answered = Math.max(query.state.dataUpdatedAt, query.state.errorUpdatedAt);
  return Date.now() - answered >= paceOf(query.queryKey, pages);
}
