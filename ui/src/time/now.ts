// One clock for all that ages on a page: it ticks once a second while somebody looks.
import { useSyncExternalStore } from "react";

let now = Date.now();
let timer: number | undefined;
const heard = new Set<() => void>();

function tick() {
  if (document.hidden) return;
  now = Date.now();
  heard.forEach((hear) => hear());
}

function subscribe(hear: () => void): () => void {
  heard.add(hear);
  timer ??= window.setInterval(tick, 1_000);
  return () => {
    heard.delete(hear);
    if (heard.size === 0) {
      window.clearInterval(timer);
      timer = undefined;
    }
  };
}

/** Milliseconds since 1970, new every second. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now);
}

/** The same, new only every so many milliseconds: for what is too large to be drawn every second. */
export function useNowBy(step: number): number {
  return useSyncExternalStore(subscribe, () => Math.floor(now / step) * step);
}
