// What an instance writes while somebody looks: its stream, gone on with where it was cut.
import type { components } from "../../../api/schema";
import { keepStream } from "../../../api/stream";
import type { Chunk } from "./rows";

type Instance = components["schemas"]["Instance"];
export type Heard = {
  /** And where the stream is after them. */
  lines: (chunks: Chunk[], place: string) => void;
  instance: (instance: Instance) => void;
  /** Nothing more comes, unless it is retried. */
  end: () => void;
};

/** Listen until the answer is called. */
export function tail(instance: number, after: string, heard: Heard): () => void {
  let place = after;
  const forget = keepStream(
    () => `/api/v1/instances/${instance}/stream?batch=true&after=${encodeURIComponent(place)}`,
    (source) => {
      source.addEventListener("lines", (event: MessageEvent<string>) => {
        place = event.lastEventId || place;
        heard.lines((JSON.parse(event.data) as { items: Chunk[] }).items, place);
      });
      source.addEventListener("instance", (event: MessageEvent<string>) => {
        heard.instance(JSON.parse(event.data) as Instance);
      });
      source.addEventListener("end", () => {
        forget();
        heard.end();
      });
    },
  );
  return forget;
}
