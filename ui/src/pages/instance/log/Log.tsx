// The log of an instance: however long it is, what is seen is there, and what is not seen is not.
import { useVirtualizer } from "@tanstack/react-virtual";
import { Button, Empty, Skeleton } from "antd";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import type { components } from "../../../api/schema";
import { Refused } from "../../../parts/Refused";
import { useFilters } from "../../../state/url";
import { useZone } from "../../../time/zone";
import { chosenRows } from "./copying";
import { findHere, findThere, lastError, type Direction, type Wanted } from "./finding";
import { LogBar } from "./LogBar";
import { LogRow } from "./LogRow";
import { addressOf, failingRow, fenceOf, readAddress, type Address, type Row } from "./rows";
import type { View } from "./source";
import { useLog } from "./useLog";
import "./log.css";

type Instance = components["schemas"]["Instance"];
type Props = {
  instance: Instance;
  zone: string | null;
  /** Which attempt it was, by its fence. */
  attempts: ReadonlyMap<number, number>;
  /** By whoever looks at it, just now: the end is what they wait for. */
  retried?: boolean;
  onInstance: (instance: Instance) => void;
  /** Told of what is here; `quiet`: it changes no more by itself. */
  onRows: (rows: readonly Row[], quiet: boolean) => void;
};
const HEIGHT = 20;
/** So many rows before an end is reached, the next page is asked for. */
const AHEAD = 60;

export function Log({ instance, zone, attempts, retried = false, onInstance, onRows }: Props) {
  const { t } = useTranslation("instance");
  const [filters, change] = useFilters();
  const shownZone = useZone(zone);
  const living = instance.end_time === null;
  const errors = filters.log === "errors";
  const [unmarked, setUnmarked] = useState(false);
  const view: View = {
    only: errors ? (unmarked ? "stderr" : "errors") : "all",
    fence: filters.attempt && /^\d+$/.test(filters.attempt) ? Number(filters.attempt) : null,
  };
  const { window: log, version, following, follow } = useLog({ instance: instance.id, view, living, onInstance });
  const box = useRef<HTMLDivElement>(null);
  const top = useRef(0);
  const [goal, setGoal] = useState<{ index: number } | null>(null);
  const [looked, setLooked] = useState<Address | null>(null);
  const [missed, setMissed] = useState(false);
  const wrap = filters.wrap === "1";
  const wanted = filters.find ?? "";
  const line = readAddress(filters.line);
  const chosen = chosenRows(log.rows, looked ?? line, looked ? null : readAddress(filters.to));
  const rows = useVirtualizer({
    count: log.rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => HEIGHT,
    overscan: 15,
  });

  const show = useCallback(
    async (address: Address) => {
      if (!(await log.around(address.seq))) return;
      follow(false);
      setGoal({ index: log.indexOf(address) });
    },
    [log, follow],
  );

  const failed = instance.status === "failed" && !retried;
  useEffect(() => {
    if (!retried) return;
    follow(true);
    setLooked(null);
  }, [retried, follow]);
  const now = useRef({ line, failed, message: instance.error_message });
  useEffect(() => {
    now.current = { ...now.current, failed, message: instance.error_message };
  }, [failed, instance.error_message]);

  // What is looked at first: the line of the address, the line that failed, else the end.
  useEffect(() => {
    const { line: asked, failed: broken, message } = now.current;
    const { only } = log.view;
    void (async () => {
      if (asked !== null && only === "all") {
        now.current.line = null; // of the first look alone
        return show(asked);
      }
      const error = broken && only === "all" ? await lastError(log.instance, log.view).catch(() => null) : null;
      if (error !== null) {
        setLooked(error);
        return show(error);
      }
      if (!(await log.toEnd())) return;
      if (only === "errors" && log.rows.length === 0) setUnmarked(true);
      const index = broken ? failingRow(log.rows, message) : log.rows.length - 1;
      const row = log.rows[index];
      if (broken && row !== undefined) setLooked({ seq: row.seq, part: row.part });
      setGoal({ index });
    })();
  }, [log, show]);

  // Some attempts mark their errors and some, as commands do, write to stderr: the newest must not be left out.
  const newest = Math.max(0, ...attempts.keys());
  useEffect(() => {
    const last = log.rows.at(-1);
    if (failed && log.view.only === "errors" && log.atEnd && last && fenceOf(last.seq) < newest) setUnmarked(true);
  }, [log, version, failed, newest]);

  useEffect(() => onRows(log.rows, !living), [log, version, living, onRows]);

  useLayoutEffect(() => {
    const element = box.current;
    const moved = log.moved();
    if (element === null) return;
    if (following) element.scrollTop = element.scrollHeight;
    else if (moved !== 0) element.scrollTop += moved * HEIGHT;
    top.current = element.scrollTop;
  }, [log, version, following]);

  useLayoutEffect(() => {
    if (goal !== null && goal.index >= 0) rows.scrollToIndex(goal.index, { align: "center" });
  }, [goal, rows]);

  function scrolled() {
    const element = box.current;
    if (element === null) return;
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    const up = element.scrollTop < top.current - 1;
    top.current = element.scrollTop;
    if (up && left > HEIGHT) follow(false);
    if (left <= HEIGHT && log.atEnd) {
      log.sawEnd();
      if (living && !up) follow(true);
    }
    if (element.scrollTop < AHEAD * HEIGHT) void log.older();
    if (left < AHEAD * HEIGHT) void log.newer();
  }

  async function toStart() {
    if (!log.atStart) await log.toStart();
    follow(false);
    setLooked(null);
    setGoal({ index: 0 });
  }

  async function toEnd() {
    if (!log.atEnd) await log.toEnd();
    setLooked(null);
    log.sawEnd();
    follow(living);
    setGoal({ index: log.rows.length - 1 });
  }

  async function find(what: Wanted, direction: Direction) {
    const here = rows.getVirtualItems();
    const from = chosen?.from ?? (direction === "next" ? (here[0]?.index ?? 0) : (here.at(-1)?.index ?? 0));
    let index = findHere(log.rows, what, from, direction);
    if (index < 0) {
      const last = direction === "next" ? log.rows.at(-1) : log.rows[0];
      const there = last && (await findThere(log.instance, log.view, what, last.seq, direction).catch(() => null));
      if (there && (await log.around(there.seq))) {
        const begin = log.indexOf(there);
        index = findHere(log.rows, what, direction === "next" ? begin - 1 : endOf(log.rows, begin), direction);
        if (index < 0) index = begin;
      }
    }
    const row = log.rows[index];
    setMissed(row === undefined);
    if (row === undefined) return;
    follow(false);
    setLooked(row);
    setGoal({ index });
  }

  const onChoose = useCallback(
    (row: Row, toHere: boolean) => {
      setLooked(null);
      change(toHere ? { to: addressOf(row) } : { line: addressOf(row), to: null });
    },
    [change],
  );

  const items = rows.getVirtualItems();
  return (
    <section className={`log${wrap ? " log-wrap" : ""}`} aria-label={t("log.title")}>
      <LogBar
        log={log}
        living={living}
        following={following}
        missed={missed}
        unmarked={errors && unmarked}
        chosen={chosen === null ? [] : log.rows.slice(chosen.from, chosen.to + 1)}
        visible={() => onScreen(log.rows, items, box.current)}
        onFollow={() => (following ? follow(false) : void toEnd())}
        onStart={() => void toStart()}
        onEnd={() => void toEnd()}
        onFind={(what, direction) => void find(what, direction)}
        onSought={() => setMissed(false)}
      />
      <Refused refusal={log.refusal} again={() => void log.toEnd()} />
      <div
        className="log-box"
        ref={box}
        role="log"
        aria-live="off"
        aria-label={t("log.title")}
        tabIndex={0}
        onScroll={scrolled}
      >
        <div className="log-all" style={{ height: rows.getTotalSize() }}>
          <div className="log-some" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
            {items.map(({ index, key }) => {
              const row = log.rows[index];
              return row === undefined ? null : (
                <div key={key} data-index={index} ref={wrap ? rows.measureElement : undefined} className="log-slot">
                  <LogRow
                    row={row}
                    zone={shownZone}
                    times={filters.times !== "0"}
                    wanted={wanted}
                    chosen={chosen !== null && index >= chosen.from && index <= chosen.to}
                    heading={
                      row.kind === "attempt"
                        ? t("log.attempt", { number: attempts.get(fenceOf(row.seq)) ?? fenceOf(row.seq) })
                        : ""
                    }
                    href={`/instances/${instance.id}?line=${addressOf(row)}`}
                    onChoose={onChoose}
                  />
                </div>
              );
            })}
          </div>
        </div>
        {log.version === 0 && <Skeleton active className="log-first" title={false} paragraph={{ rows: 6 }} />}
        {log.version > 0 && log.rows.length === 0 && log.refusal === null && (
          <Empty
            image={Empty.PRESENTED_IMAGE_SIMPLE}
            description={errors ? t("log.noErrors") : living ? t("log.nothingYet") : t("log.nothing")}
          />
        )}
      </div>
      {!following && log.unseen > 0 && (
        <Button type="primary" size="small" className="log-new" onClick={() => void toEnd()}>
          {t("log.new", { count: log.unseen })}
        </Button>
      )}
    </section>
  );
}

function endOf(rows: readonly Row[], begin: number): number {
  let end = begin;
  while (rows[end]?.seq === rows[begin]?.seq && end < rows.length) end += 1;
  return end;
}

function onScreen(
  rows: readonly Row[],
  items: readonly { index: number; start: number; end: number }[],
  box: HTMLElement | null,
): Row[] {
  if (box === null) return [];
  const [from, to] = [box.scrollTop, box.scrollTop + box.clientHeight];
  return items
    .filter((item) => item.end > from && item.start < to)
    .map((item) => rows[item.index])
    .filter((row): row is Row => row !== undefined);
}
