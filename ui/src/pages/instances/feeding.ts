// Keeps a feed filled around the window: one request at a time, until the window is full or there is no more.
import { Refusal } from "../../api/refusal";
import { create } from "../../state/store";
import * as feeds from "./feed";
import type { Answered, Feed, Instance } from "./feed";

/** So many requests that found nothing follow each other before somebody is asked whether to go on. */
const IN_VAIN = 100;
const AHEAD = 20;
export const PAGE = 200;

export type State = {
  feed: Feed | null;
  /** Rows that are newer than what is shown, while somebody reads; `all` of the newest page, so that there may be more. */
  news: { count: number; all: boolean };
  looking: boolean;
  /** The last page was short: what is asked for is rare. */
  searching: boolean;
  /** Many pages without a row: to go on needs a word. */
  resting: boolean;
  refusal: Refusal | null;
};
type Ask = (cursor: string | null, limit: number, signal: AbortSignal) => Promise<Answered>;

export class Feeding {
  readonly state = create<State>({
    feed: null,
    news: { count: 0, all: false },
    looking: false,
    searching: false,
    resting: false,
    refusal: null,
  });
  private window: [first: number, last: number] = [0, AHEAD];
  private stopped = new AbortController();
  private inVain = 0;
  private newest: { head: Answered; limit: number } | null = null;

  constructor(private readonly ask: Ask) {}

  /** The newest page came. While somebody reads, only what is there already is shown as it is now. */
  take(head: Answered, limit: number, held: boolean): void {
    const { feed } = this.state.get();
    this.newest = { head, limit };
    if (feed === null) this.show(feeds.begin(head));
    else if (!held) this.show(feeds.renew(feed, head, limit));
    else {
      const count = feeds.newIn(feed, head);
      this.show(feeds.update(feed, head.items), { count, all: count > 0 && count >= head.items.length });
    }
    void this.pump();
  }

  update(rows: readonly Instance[]): void {
    const { feed, news } = this.state.get();
    if (feed !== null) this.show(feeds.update(feed, rows), news);
  }

  /** These rows are seen now. */
  look(first: number, last: number): void {
    this.window = [first, last];
    void this.pump();
  }

  /** Show the newest now, whoever reads. */
  release(): void {
    const { feed } = this.state.get();
    if (feed === null || this.newest === null) return;
    this.show(feeds.renew(feed, this.newest.head, this.newest.limit));
    this.look(0, AHEAD);
  }

  goOn(): void {
    this.inVain = 0;
    this.set({ resting: false, refusal: null });
    void this.pump();
  }

  start(): void {
    if (this.stopped.signal.aborted) this.stopped = new AbortController();
  }

  stop(): void {
    this.stopped.abort();
    this.set({ looking: false });
  }

  private set(change: Partial<State>): void {
    this.state.set({ ...this.state.get(), ...change });
  }

  private show(feed: Feed, news = { count: 0, all: false }): void {
    const now = this.state.get();
    if (feed !== now.feed || news.count !== now.news.count || news.all !== now.news.all) this.set({ feed, news });
  }

  private async pump(): Promise<void> {
    const { signal } = this.stopped;
    const gone = () => signal.aborted;
    if (this.state.get().looking || gone()) return;
    let work = this.next();
    if (work === null) return;
    this.set({ looking: true, refusal: null });
    try {
      while (work !== null) {
        const asked = this.state.get().feed;
        const page = await this.ask(work.cursor, work.limit, signal);
        const { feed, news } = this.state.get();
        if (gone() || feed === null) return;
        // The top may have been renewed meanwhile: what was asked for is then no longer what is missing.
        if (sameEnd(asked, feed)) {
          const filled = work.stretch === null ? feeds.append(feed, page) : feeds.refill(feed, work.stretch, page);
          this.inVain = page.items.length === 0 ? this.inVain + 1 : 0;
          this.set({ searching: page.items.length < work.limit });
          this.show(feeds.forget(filled, ...this.window), news);
        }
        work = this.next();
      }
    } catch (reason) {
      if (gone()) return;
      if (!(reason instanceof Refusal)) throw reason;
      this.set({ refusal: reason });
    } finally {
      if (!gone()) this.set({ looking: false });
    }
  }

  /** What is missing: something forgotten within the window, or what comes behind the last row. */
  private next(): { cursor: string | null; limit: number; stretch: number | null } | null {
    const { feed, refusal } = this.state.get();
    if (feed === null || refusal !== null) return null;
    const [first, last] = this.window;
    for (const number of feeds.between(feed, first - AHEAD, last + AHEAD)) {
      const one = feed.stretches[number];
      if (one?.rows === null) return { cursor: one.cursor, limit: Math.max(1, one.ids.length), stretch: number };
    }
    if (feed.next === null || last + AHEAD < feeds.sizeOf(feed)) return null;
    if (this.inVain >= IN_VAIN) {
      this.set({ resting: true });
      return null;
    }
    return { cursor: feed.next, limit: PAGE, stretch: null };
  }
}

function sameEnd(asked: Feed | null, feed: Feed): boolean {
  return asked !== null && asked.next === feed.next && asked.stretches.length === feed.stretches.length;
}
