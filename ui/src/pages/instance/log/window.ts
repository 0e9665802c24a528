// The part of a log that is in memory: it grows at both ends, and lets go of the far one.
import { END_OF_LOG, placeAfter, rowsOf, type Address, type Chunk, type Row } from "./rows";
import { Refusal } from "../../../api/refusal";
import { ask, belongs, pageOf, type Ask, type Page, type Range, type View } from "./source";

export const MOST_ROWS = 50_000;
/** As many rows as a page should have, and how many chunks the first one asks for, of which nothing is known. */
const PAGE_ROWS = 4_000;
const FIRST_CHUNKS = 60;
const MOST_CHUNKS = 1_000;

export class LogWindow {
  rows: Row[] = [];
  /** Counts changes, so that whoever draws knows of them. */
  version = 0;
  atStart = false;
  atEnd = false;
  /** By how many rows what is shown has moved down since somebody asked (`moved`). */
  private shift = 0;
  /** Rows that came while nobody looked at the end. */
  unseen = 0;
  refusal: Refusal | null = null;
  busy: "whole" | "before" | "after" | null = null;
  view: View;
  private first = END_OF_LOG;
  private last = -1;
  private known = new Set<number>();
  private perChunk = PAGE_ROWS / FIRST_CHUNKS;
  private epoch = 0;
  /** What came while a page was on its way that may or may not have it. */
  private waiting: { chunks: readonly Chunk[]; following: boolean }[] = [];
  private heard = new Set<() => void>();
  private done: () => void = () => undefined;
  /** When the first page is there: nothing can be gone on with before. */
  readonly settled = new Promise<void>((resolve) => {
    this.done = resolve;
  });
  private timer: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly instance: number,
    view: View,
    private readonly asking: Ask = ask,
    private readonly most: number = MOST_ROWS,
  ) {
    this.view = view;
  }

  subscribe = (hear: () => void): (() => void) => {
    this.heard.add(hear);
    return () => this.heard.delete(hear);
  };

  getVersion = (): number => this.version;

  private tell(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    this.version += 1;
    this.heard.forEach((hear) => hear());
  }

  /** What comes live is shown ten times a second at most. */
  private tellSoon(): void {
    this.timer ??= setTimeout(() => this.tell(), 100);
  }

  moved(): number {
    const { shift } = this;
    this.shift = 0;
    return shift;
  }

  indexOf({ seq, part }: Address): number {
    if (!this.known.has(seq)) return -1;
    const exact = this.rows.findIndex((row) => row.seq === seq && row.part === part);
    return exact >= 0 ? exact : this.rows.findIndex((row) => row.seq === seq);
  }

  /** Where the stream has to go on; the end of the log when that is not here. */
  async place(): Promise<string> {
    if (this.atEnd && this.view.only === "all") return placeAfter([...this.known].map((seq) => ({ seq })));
    const tail = await this.asking(this.instance, { before: END_OF_LOG, limit: 1 });
    const last = tail.items.at(-1);
    return last === undefined ? "-1" : placeAfter([last]);
  }

  toEnd(): Promise<boolean> {
    return this.whole(async () => {
      const page = await this.page({ before: END_OF_LOG });
      return { chunks: page.items, first: this.firstOf(page), last: page.next_after, atStart: !page.more, atEnd: true };
    });
  }

  toStart(): Promise<boolean> {
    return this.whole(async () => {
      const page = await this.page({ after: -1 });
      return { chunks: page.items, first: -1, last: page.next_after, atStart: true, atEnd: !page.more };
    });
  }

  /** Load what surrounds a line, unless it is here. */
  async around(seq: number): Promise<boolean> {
    if (this.known.has(seq)) return true;
    return this.whole(async () => {
      const [older, newer] = [await this.page({ before: seq + 1 }), await this.page({ after: seq })];
      const chunks = [...older.items, ...newer.items];
      return {
        chunks,
        first: this.firstOf(older),
        last: newer.items.length > 0 ? newer.next_after : seq,
        atStart: !older.more,
        atEnd: !newer.more,
      };
    });
  }

  async older(): Promise<void> {
    if (this.atStart) return;
    await this.load("before", { before: this.first }, (page) => {
      const fresh = this.taken(page.items);
      this.rows = fresh.concat(this.rows);
      this.shift += fresh.length;
      this.first = this.firstOf(page);
      this.atStart = !page.more;
      if (this.rows.length > this.most) this.dropNewest();
    });
  }

  async newer(): Promise<void> {
    if (this.atEnd) return;
    await this.load("after", { after: this.last }, (page) => {
      this.rows = this.rows.concat(this.taken(page.items));
      this.last = Math.max(this.last, page.next_after);
      this.atEnd = !page.more;
      if (this.atEnd) this.unseen = 0;
      if (this.rows.length > this.most) this.dropOldest();
    });
  }

  /** What has just been written. `following`: somebody looks at the end, so the beginning may go. */
  append(chunks: readonly Chunk[], following: boolean): void {
    if (this.busy === "whole" || this.busy === "after") {
      this.waiting.push({ chunks, following });
      return;
    }
    const wanted = chunks.filter((chunk) => belongs(chunk, this.view) && !this.known.has(chunk.seq));
    if (wanted.length === 0) return;
    if (this.atEnd && (following || this.rows.length < this.most)) {
      const fresh = this.taken(wanted);
      for (const row of fresh) this.rows.push(row);
      this.last = wanted.reduce((most, chunk) => Math.max(most, chunk.seq), this.last);
      if (!following) this.unseen += fresh.length;
      if (following && this.rows.length > this.most + PAGE_ROWS) this.dropOldest();
    } else {
      this.atEnd = false;
      this.unseen += wanted.reduce((sum, chunk) => sum + rowsOf(chunk).length, 0);
    }
    this.tellSoon();
  }

  sawEnd(): void {
    if (this.unseen === 0) return;
    this.unseen = 0;
    this.tell();
  }

  private page(range: Range): Promise<Page> {
    const limit = Math.max(1, Math.min(MOST_CHUNKS, Math.round(PAGE_ROWS / this.perChunk)));
    return pageOf(this.asking, this.instance, this.view, range, { limit });
  }

  private firstOf(page: Page): number {
    return page.next_before ?? this.first;
  }

  private taken(chunks: readonly Chunk[]): Row[] {
    const fresh = chunks.filter((chunk) => !this.known.has(chunk.seq));
    const rows = fresh.flatMap(rowsOf);
    for (const chunk of fresh) this.known.add(chunk.seq);
    if (fresh.length > 0) this.perChunk = Math.max(1, rows.length / fresh.length);
    return rows;
  }

  private async whole(
    load: () => Promise<{ chunks: Chunk[]; first: number; last: number; atStart: boolean; atEnd: boolean }>,
  ): Promise<boolean> {
    const epoch = ++this.epoch;
    this.busy = "whole";
    try {
      const got = await load();
      if (epoch !== this.epoch) return false;
      this.known.clear();
      this.rows = this.taken(got.chunks);
      [this.first, this.last, this.atStart, this.atEnd] = [got.first, got.last, got.atStart, got.atEnd];
      [this.shift, this.refusal] = [0, null];
      if (this.atEnd) this.unseen = 0;
      if (this.rows.length > this.most) this.dropOldest();
    } catch (reason) {
      this.refused(reason, epoch);
    }
    if (epoch === this.epoch) {
      this.arrived();
      this.done();
    }
    return epoch === this.epoch && this.refusal === null;
  }

  private async load(which: "before" | "after", range: Range, take: (page: Page) => void): Promise<void> {
    if (this.busy !== null) return;
    const { epoch } = this;
    this.busy = which;
    try {
      const page = await this.page(range);
      if (epoch !== this.epoch) return;
      take(page);
      this.refusal = null;
    } catch (reason) {
      this.refused(reason, epoch);
    }
    if (epoch === this.epoch) this.arrived();
  }

  private arrived(): void {
    this.busy = null;
    for (const { chunks, following } of this.waiting.splice(0)) this.append(chunks, following);
    this.tell();
  }

  private refused(reason: unknown, epoch: number): void {
    if (!(reason instanceof Refusal)) throw reason;
    if (epoch === this.epoch) this.refusal = reason;
  }

  /** Whole chunks only: the next page begins with one. */
  private dropOldest(): void {
    let count = this.rows.length - this.most;
    const edge = this.rows[count - 1]?.seq;
    while (this.rows[count]?.seq === edge && count < this.rows.length - 1) count += 1;
    for (const row of this.rows.splice(0, count)) this.known.delete(row.seq);
    this.shift -= count;
    this.first = this.rows[0]?.seq ?? END_OF_LOG;
    this.atStart = false;
  }

  private dropNewest(): void {
    let keep = this.most;
    const edge = this.rows[keep]?.seq;
    while (this.rows[keep - 1]?.seq === edge && keep > 1) keep -= 1;
    for (const row of this.rows.splice(keep)) this.known.delete(row.seq);
    this.last = this.rows.at(-1)?.seq ?? -1;
    this.atEnd = false;
  }
}
