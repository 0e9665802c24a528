// A stream of events that is kept: while the tab is seen, and again when the server has ended it.
import { checkSession } from "./client";
import { whileSeen } from "./seen";

const FIRST_WAIT = 5_000;
const LONGEST_WAIT = 60_000;

/**
 * Keep a stream open until the answer is called. `prepare` adds the listeners; `away` hears that nothing comes for now.
 *
 * A browser reconnects by itself, except to what answered with something else than a stream, such as 503 or 401: then
 * it is tried again later and later, and not at all once the session has ended.
 */
export function keepStream(
  address: () => string,
  prepare: (source: EventSource) => void,
  away: () => void = () => undefined,
): () => void {
  let source: EventSource | null = null;
  let again: ReturnType<typeof setTimeout> | undefined;
  let wait = FIRST_WAIT;
  let kept = false;

  function open() {
    kept = true;
    const opened = new EventSource(address());
    source = opened;
    opened.addEventListener("open", () => (wait = FIRST_WAIT));
    opened.addEventListener("error", () => {
      away();
      if (opened.readyState === EventSource.CLOSED && kept) void later();
    });
    prepare(opened);
  }

  async function later() {
    const mine = source;
    const signedIn = await checkSession();
    if (!signedIn || !kept || source !== mine) return;
    again = setTimeout(open, wait);
    wait = Math.min(wait * 2, LONGEST_WAIT);
  }

  return whileSeen(open, () => {
    kept = false;
    clearTimeout(again);
    source?.close();
    away();
  });
}
