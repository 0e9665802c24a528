// The places of what is drawn: asked for when what depends on what has changed, and kept while only states change.
import { useEffect, useMemo, useRef, useState } from "react";

import type { Direction, Place, Shape } from "./layout";
import type { Answered, Question } from "./thread";

export type Placed = { key: string; places: Map<number, Place> };

/** `null` until they are there; `"failed"` if they never will be. */
export function usePlaces(shape: Shape, direction: Direction): Placed | "failed" | null {
  const [placed, setPlaced] = useState<Placed | "failed" | null>(null);
  const key = useMemo(() => `${direction} ${shape.ids.join()} ${shape.edges.join()}`, [shape, direction]);
  const asked = useRef({ shape, direction });
  useEffect(() => {
    asked.current = { shape, direction };
  });
  useEffect(() => {
    const thread = new Worker(new URL("./thread.ts", import.meta.url), { type: "module" });
    thread.onmessage = ({ data }: MessageEvent<Answered>) => {
      setPlaced({ key, places: data.places });
      thread.terminate();
    };
    // Its program could not be fetched (a new version was installed since), or has failed: it will never answer.
    thread.onerror = () => {
      setPlaced("failed");
      thread.terminate();
    };
    const question: Question = { ...asked.current };
    thread.postMessage(question);
    return () => thread.terminate();
  }, [key]);
  return placed;
}
