// The rows on the screen: they stay where they are when others come before them, and follow the end when that is wished.
import { useVirtualizer, type Virtualizer } from "@tanstack/react-virtual";
import { useCallback, useEffect, useLayoutEffect, useRef, type RefObject } from "react";

import type { Log } from "./useLog";
import type { Goal } from "./useLook";
import { MOST_ROWS } from "./window";

export type Rows = Virtualizer<HTMLDivElement, HTMLDivElement>;
type Given = {
  living: boolean;
  /** Rows are as high as their text needs. */
  wrap: boolean;
  box: RefObject<HTMLDivElement | null>;
  goal: Goal | null;
};
export const HEIGHT = 20;
/** So many rows before an end is reached, the next page is asked for. */
const AHEAD = 60;

export function useScroll({ window: log, following, follow, version }: Log, { living, wrap, box, goal }: Given) {
  const top = useRef(0);
  /** Somebody has just scrolled up: known here before the next drawing knows it, which must not pull them down again. */
  const letGo = useRef(false);
  const shown = log.rows;
  const rows: Rows = useVirtualizer({
    count: shown.length,
    getScrollElement: () => box.current,
    estimateSize: () => HEIGHT,
    overscan: 15,
    getItemKey: useCallback((index: number) => shown[index]?.key ?? index, [shown]),
    anchorTo: "end", // what is looked at stays where it is, whatever comes or goes before it
  });
  const total = rows.getTotalSize();

  useEffect(() => {
    letGo.current = false;
  }, [following]);

  useLayoutEffect(() => {
    const element = box.current;
    if (element === null) return;
    if (following && !letGo.current) element.scrollTop = element.scrollHeight;
    top.current = element.scrollTop;
    if (log.version === 0 || element.scrollHeight > element.clientHeight) return;
    // Nothing can be scrolled: all that is here is seen, and nobody could ask for more.
    log.sawEnd();
    void log.fill();
  }, [box, log, version, following, total]);

  // Not while the end is followed: a goal is kept to until all heights are known, and would hold against it.
  const isFollowing = useRef(following);
  useLayoutEffect(() => {
    isFollowing.current = following;
  }, [following]);
  useLayoutEffect(() => {
    if (goal === null || goal.index < 0 || isFollowing.current) return;
    rows.scrollToIndex(goal.index, { align: goal.align });
  }, [goal, rows]);

  useLayoutEffect(() => rows.measure(), [rows, wrap]);

  // Heights are remembered by row: those of rows that are gone must go as well.
  useEffect(() => {
    if (rows.itemSizeCache.size <= 2 * MOST_ROWS) return;
    const here = new Set<unknown>(shown.map((row) => row.key));
    for (const key of rows.itemSizeCache.keys()) if (!here.has(key)) rows.itemSizeCache.delete(key);
  }, [rows, shown]);

  function scrolled() {
    const element = box.current;
    if (element === null) return;
    const left = element.scrollHeight - element.scrollTop - element.clientHeight;
    const up = element.scrollTop < top.current - 1;
    top.current = element.scrollTop;
    if (up && left > HEIGHT) {
      letGo.current = following;
      follow(false);
    }
    if (left <= HEIGHT && log.atEnd) {
      log.sawEnd();
      if (living && !up) {
        letGo.current = false;
        follow(true);
      }
    }
    if (element.scrollTop < AHEAD * HEIGHT) void log.older();
    if (left < AHEAD * HEIGHT) void log.newer();
  }

  /** The first and the last row that can be seen. */
  function onScreen(): { from: number; to: number } {
    const begin = box.current?.scrollTop ?? 0;
    const end = begin + (box.current?.clientHeight ?? 0);
    const seen = rows.getVirtualItems().filter((item) => item.end > begin && item.start < end);
    return { from: seen[0]?.index ?? 0, to: seen.at(-1)?.index ?? -1 };
  }

  return { rows, scrolled, onScreen };
}
