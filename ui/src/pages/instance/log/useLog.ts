// One log on the page: its window, what comes live, and whether the end is followed.
import { useEffect, useRef, useState, useSyncExternalStore } from "react";

import type { components } from "../../../api/schema";
import { tail } from "./live";
import type { View } from "./source";
import { LogWindow } from "./window";

type Instance = components["schemas"]["Instance"];

export type Log = {
  window: LogWindow;
  version: number;
  following: boolean;
  follow: (on: boolean) => void;
};

type Given = {
  instance: number;
  view: View;
  /** It may still write. */
  living: boolean;
  /** Told of how the instance goes, sooner than by asking. */
  onInstance: (instance: Instance) => void;
};
const AGAIN = 1_000;

export function useLog({ instance, view, living, onInstance }: Given): Log {
  const { only, fence } = view;
  const [following, follow] = useState(living);
  const [held, setHeld] = useState(() => ({ key: keyOf(instance, view), window: new LogWindow(instance, view) }));
  // Another view is another window; made while rendering, so that no row of the old one is shown under the new name.
  if (held.key !== keyOf(instance, view)) {
    setHeld({ key: keyOf(instance, view), window: new LogWindow(instance, { only, fence }) });
  }
  const log = held.window;
  const version = useSyncExternalStore(log.subscribe, log.getVersion);
  const told = useRef({ following, onInstance });
  useEffect(() => {
    told.current = { following, onInstance };
  });

  // An instance is known to have ended before its last lines are here: only the stream itself says that it is over.
  const open = useRef<AbortController | null>(null);
  const [ends, setEnds] = useState(0);
  useEffect(() => {
    if (!living || open.current !== null) return;
    const gone = new AbortController();
    open.current = gone;
    void (async () => {
      await log.settled;
      if (gone.signal.aborted || log.place === null) return;
      const stop = tail(log.instance, log.place, {
        lines: (chunks, reached) => {
          log.place = reached;
          log.append(chunks, told.current.following);
        },
        instance: (state) => told.current.onInstance(state),
        end: () => {
          if (open.current === gone) open.current = null;
          // It may have been retried before its end was told: then there is more to hear.
          setTimeout(() => setEnds((count) => count + 1), AGAIN);
        },
      });
      gone.signal.addEventListener("abort", stop);
    })();
  }, [log, living, ends]);
  useEffect(
    () => () => {
      open.current?.abort();
      open.current = null;
    },
    [log],
  );

  return { window: log, version, following, follow };
}

function keyOf(instance: number, { only, fence }: View): string {
  return `${instance} ${only} ${fence ?? ""}`;
}
