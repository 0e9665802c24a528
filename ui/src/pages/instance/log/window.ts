// The part of a log that is in memory: it grows at both ends, and lets go of the far one.
import { Refusal } from "../../../api/refusal";
import { askPlace, isCallback, ownEnd } from "./place";
import { END_OF_LOG, fenceOf, rowsOf, type Address, type Chunk, type Row } from "./rows";
import { ask, belongs, pageOf, type Ask, type Page, type Range, type View } from "./source";
import { Telling } from "./telling";

export const MOST_ROWS = 50_000;
/** As many rows as a page should have, and how many chunks the first one asks for, of which nothing is known. */
const PAGE_ROWS = 4_000;
const FIRST_CHUNKS = 60;
const MOST_CHUNKS = 1_000;

type Loaded = { chunks: Chunk[]; first: number; last: number; atStart: boolean; atEnd: boolean };

export class LogWindow extends Telling {
  /** Rows are put behind the others; what changes it otherwise makes another array. */
  rows: Row[] = [];
  atStart = false;
  atEnd = false;
  /** Where the stream has to go on: first where the log ended before anything of it was read. */
  place: string | null = null;
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
  private done: () => void = () => undefined;
  /** When the first page is there: nothing can be gone on with before, and `place` says where. */
  readonly settled = new Promise<void>((resolve) => {
    this.done = resolve;
  });

  constructor(
    readonly instance: number,
    view: View,
    private readonly asking: Ask = ask,
    private readonly most: number = MOST_ROWS,
  ) {
    super();
    this.view = view;
  }

  indexOf({ seq, part }: Address): number {
    if (!this.known.has(seq)) return -1;
    const exact = this.rows.findIndex((row) => row.seq === seq && row.part === part);
    return exact >= 0 ? exact : this.rows.findIndex((row) => row.seq === seq);
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

  /** More of what does not fill its box. Not what was refused: that would be asked for without end. */
  async fill(): Promise<void> {
    if (this.refusal !== null) return;
    await this.older();
    await this.newer();
  }

  /** What has just been written. `following`: somebody looks at the end, so the beginning may go. */
  append(chunks: readonly Chunk[], following: boolean): void {
    if (this.busy === "whole" || this.busy === "after") {
      this.waiting.push({ chunks, following });
      return;
    }
    const wanted = chunks.filter(
      (chunk) => belongs(chunk, this.view) && !this.known.has(chunk.seq) && !this.before(chunk),
    );
    if (wanted.length === 0) return;
    if (this.atEnd && (following || this.rows.length < this.most)) {
      const fresh = this.taken(wanted);
      for (const row of fresh) this.rows.push(row);
      this.last = wanted.reduce((most, chunk) => Math.max(most, chunk.seq), this.last);
      if (!following) this.unseen += fresh.length;
      if (following && this.rows.length > this.most + PAGE_ROWS) this.dropOldest();
    } else {
      if (isCallback(this.last)) this.last = ownEnd([...this.known].map((seq) => ({ seq })));
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

  /** Whether `older` brings it: it came by the stream although it lies before what is here. */
  private before({ seq }: Chunk): boolean {
    if (this.atStart || seq >= this.first) return false;
    return !(isCallback(this.first) && !isCallback(seq) && fenceOf(seq) === fenceOf(this.first));
  }

  private async whole(load: () => Promise<Loaded>): Promise<boolean> {
    const epoch = ++this.epoch;
    this.busy = "whole";
    try {
      // Before the page: what is written meanwhile comes by the stream, and what comes twice is known.
      this.place ??= await askPlace(this.asking, this.instance);
      const got = await load();
      if (epoch !== this.epoch) return false;
      this.known.clear();
      this.rows = this.taken(got.chunks);
      [this.first, this.last, this.atStart, this.atEnd] = [got.first, got.last, got.atStart, got.atEnd];
      this.refusal = null;
      if (this.atEnd) this.unseen = 0;
      if (this.rows.length > this.most) this.dropOldest();
    } catch (reason) {
      this.refused(reason, epoch);
    }
    if (epoch !== this.epoch) return false;
    this.arrived();
    if (this.refusal === null) this.done();
    return this.refusal === null;
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
    for (const row of this.rows.slice(0, count)) this.known.delete(row.seq);
    this.rows = this.rows.slice(count);
    this.first = this.rows[0]?.seq ?? END_OF_LOG;
    this.atStart = false;
  }

  private dropNewest(): void {
    let keep = this.most;
    const edge = this.rows[keep]?.seq;
    while (this.rows[keep - 1]?.seq === edge && keep > 1) keep -= 1;
    for (const row of this.rows.slice(keep)) this.known.delete(row.seq);
    this.rows = this.rows.slice(0, keep);
    this.last = ownEnd(this.rows);
    this.atEnd = false;
  }
}
