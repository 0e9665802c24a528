// What an instance writes while somebody looks: its stream, gone on with where it was cut.
import type { components } from "../../../api/schema";
import { whileSeen } from "../../../api/seen";
import type { Chunk } from "./rows";

type Instance = components["schemas"]["Instance"];
export type Heard = {
  lines: (chunks: Chunk[]) => void;
  instance: (instance: Instance) => void;
  /** Nothing more comes, unless it is retried. */
  end: () => void;
};
export const AGAIN = 5_000;

/** Listen until the answer is called. */
export function tail(instance: number, after: string, heard: Heard): () => void {
  let source: EventSource | null = null;
  let again: ReturnType<typeof setTimeout> | undefined;
  let place = after;
  let over = false;

  function open() {
    if (over) return;
    source = new EventSource(`/api/v1/instances/${instance}/stream?batch=true&after=${encodeURIComponent(place)}`);
    source.addEventListener("lines", (event: MessageEvent<string>) => {
      place = event.lastEventId || place;
      heard.lines((JSON.parse(event.data) as { items: Chunk[] }).items);
    });
    source.addEventListener("instance", (event: MessageEvent<string>) => {
      heard.instance(JSON.parse(event.data) as Instance);
    });
    source.addEventListener("end", () => {
      over = true;
      source?.close();
      heard.end();
    });
    source.addEventListener("error", () => {
      // A browser comes again by itself, except to what answered with something else than a stream.
      if (source?.readyState === EventSource.CLOSED) again = setTimeout(open, AGAIN);
    });
  }

  const forget = whileSeen(open, () => {
    clearTimeout(again);
    source?.close();
  });
  return forget;
}
