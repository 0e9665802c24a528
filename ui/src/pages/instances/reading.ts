// Whether somebody is reading: then nothing moves beneath the pointer.
import { useQuery } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";

import { fetchPath } from "../../api/queries";
import { Refusal } from "../../api/refusal";
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

/** What lives, is seen and is not on the newest page is asked for by its number, so that it does not seem to live for ever. */
export function useSeenAgain(feeding: Feeding, living: readonly number[]): void {
  const { data } = useQuery({
    queryKey: ["seen again", living],
    enabled: living.length > 0,
    refetchInterval: SEEN_AGAIN,
    queryFn: async ({ signal }) => {
      const found = await Promise.all(living.map((id) => seen(id, signal)));
      return found.filter((one) => one !== null);
    },
  });
  useEffect(() => {
    if (data) feeding.update(data);
  }, [data, feeding]);
}

async function seen(id: number, signal: AbortSignal): Promise<Instance | null> {
  try {
    return await fetchPath("/api/v1/instances/{instance_id}", { path: { instance_id: id } }, signal);
  } catch (reason) {
    if (reason instanceof Refusal && reason.gone) return null; // it stays as it was last seen
    throw reason;
  }
}
