// A stream is opened again later and later, and not at all once the session has ended.
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { keepStream } from "../src/api/stream";

class Source extends EventTarget {
  static readonly CLOSED = 2;
  static readonly opened: Source[] = [];
  readyState = 1;

  constructor(readonly address: string) {
    super();
    Source.opened.push(this);
  }

  close() {
    this.readyState = Source.CLOSED;
  }

  /** The server answers with something that is no stream: the browser gives up. */
  refuse() {
    this.close();
    this.dispatchEvent(new Event("error"));
  }
}

describe("a stream that the server refuses", () => {
  let status: number;
  let away: number;
  let stop: () => void;
  const last = () => Source.opened.at(-1) as Source;

  beforeEach(() => {
    vi.useFakeTimers();
    Source.opened.length = 0;
    status = 200;
    away = 0;
    vi.stubGlobal("document", Object.assign(new EventTarget(), { hidden: false }));
    vi.stubGlobal("EventSource", Source);
    vi.stubGlobal("fetch", () => Promise.resolve(new Response("{}", { status })));
    stop = keepStream(
      () => `/events?after=${Source.opened.length}`,
      () => undefined,
      () => (away += 1),
    );
  });
  afterEach(() => {
    stop();
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  it("is tried again after 5, 10, 20 … seconds and at least once a minute, from where it is by then", async () => {
    const waits: number[] = [];
    for (let round = 0; round < 6; round += 1) {
      last().refuse();
      const before = Source.opened.length;
      let waited = 0;
      while (Source.opened.length === before) {
        await vi.advanceTimersByTimeAsync(1_000);
        waited += 1;
      }
      waits.push(waited);
    }
    expect(waits).toEqual([5, 10, 20, 40, 60, 60]);
    expect(last().address).toBe("/events?after=6");
    expect(away).toBe(6);
  });

  it("begins anew with 5 seconds once it was open", async () => {
    last().refuse();
    await vi.advanceTimersByTimeAsync(5_000);
    last().dispatchEvent(new Event("open"));
    last().refuse();
    await vi.advanceTimersByTimeAsync(5_000);
    expect(Source.opened).toHaveLength(3);
  });

  it("is left alone once nobody is signed in, or nobody wants it", async () => {
    status = 401;
    last().refuse();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(Source.opened).toHaveLength(1);
    stop();
    status = 200;
    last().refuse();
    await vi.advanceTimersByTimeAsync(120_000);
    expect(Source.opened).toHaveLength(1);
  });
});
