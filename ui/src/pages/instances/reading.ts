// Whether somebody is reading: then nothing moves beneath the pointer.
import { useCallback, useEffect, useRef, useState } from "react";

import { fetchPath } from "../../api/queries";
import type { Feeding } from "./feeding";
import type { Instance } from "./feed";

const STILL = 4_000;
const SEEN_AGAIN = 5_000;

/** True from the last touch on for some seconds. */
export function useTouched(): [boolean, () => void] {
  const [touched, setTouched] = useState(false);
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const touch = useCallback(() => {
    setTouched(true);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => setTouched(false), STILL);
  }, []);
  return [touched, touch];
}

/** What lives and is seen is asked for by its number now and then: further down, the newest page does not tell of it. */
export function useSeenAgain(feeding: Feeding, living: readonly number[]): void {
  const now = useRef(living);
  useEffect(() => {
    now.current = living;
  });
  useEffect(() => {
    const gone = new AbortController();
    const timer = window.setInterval(() => {
      if (document.hidden || now.current.length === 0) return;
      void Promise.all(now.current.map((id) => seen(id, gone.signal))).then((found) =>
        feeding.update(found.filter((one) => one !== null)),
      );
    }, SEEN_AGAIN);
    return () => {
      window.clearInterval(timer);
      gone.abort();
    };
  }, [feeding]);
}

/** Null where it cannot be told: it stays as it was last seen. */
async function seen(id: number, signal: AbortSignal): Promise<Instance | null> {
  try {
    return await fetchPath("/api/v1/instances/{instance_id}", { path: { instance_id: id } }, signal);
  } catch {
    return null;
  }
}
