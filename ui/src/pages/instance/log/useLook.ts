// What of a log is looked at: first the line of the address or the one that failed, then what is searched for or chosen.
import { useCallback, useEffect, useRef, useState } from "react";

import { Refusal } from "../../../api/refusal";
import { findHere, findThere, lastError, rowOf, type Direction, type Wanted } from "./finding";
import type { Choice } from "./choosing";
import { failingRow, type Address } from "./rows";
import type { Log } from "./useLog";

/** It looked at so much that it rests, after this line. */
export type Rest = { what: string; direction: Direction; upTo: number };
/** How the last search went: it looks, there is none, it rests, or it was refused. */
export type Search = "seeking" | "none" | Rest | Refusal | null;

type Given = {
  failed: boolean;
  message: string | null;
  /** The line of the address. */
  line: Address | null;
  /** Told that no error is marked. */
  onUnmarked: () => void;
};
/** `auto`: not further than is needed to see it. */
export type Goal = { index: number; align: "center" | "auto" };
const at = (index: number): Goal => ({ index, align: "center" });
const only = ({ seq, part }: Address): Choice => ({ line: { seq, part }, to: null });

export function useLook({ window: log, follow }: Log, { failed, message, line, onUnmarked }: Given) {
  const [goal, setGoal] = useState<Goal | null>(null);
  const [looked, setLooked] = useState<Choice | null>(null);
  const [search, setSearch] = useState<Search>(null);
  const sought = useRef(0);

  const now = useRef({ line, failed, message, onUnmarked });
  useEffect(() => {
    now.current = { ...now.current, failed, message, onUnmarked };
  }, [failed, message, onUnmarked]);

  const show = useCallback(
    async (address: Address): Promise<boolean> => {
      if (!(await log.around(address.seq))) return false;
      follow(false);
      setGoal(at(log.indexOf(address)));
      return true;
    },
    [log, follow],
  );

  /** What is looked at first: the line of the address, the line that failed, else the end. Again if it was refused. */
  const begin = useCallback(async () => {
    const { line: asked, failed: broken, message: said } = now.current;
    const { view } = log;
    if (asked !== null && view.only === "all") {
      if (await show(asked)) now.current.line = null; // of the first look alone
      return;
    }
    const error = broken && view.only === "all" ? await lastError(log.instance, view).catch(() => null) : null;
    if (error !== null) {
      setLooked(only(error));
      await show(error);
      return;
    }
    if (!(await log.toEnd())) return;
    if (view.only === "errors" && log.rows.length === 0) now.current.onUnmarked();
    const index = broken ? failingRow(log.rows, said) : log.rows.length - 1;
    const row = log.rows[index];
    if (broken && row !== undefined) setLooked(only(row));
    setGoal(at(index));
  }, [log, show]);
  useEffect(() => void begin(), [begin]);

  const toEnd = useCallback(
    async (following: boolean) => {
      if (!log.atEnd) await log.toEnd();
      setLooked(null);
      log.sawEnd();
      follow(following);
      setGoal(at(log.rows.length - 1));
    },
    [log, follow],
  );

  async function toStart() {
    if (!log.atStart) await log.toStart();
    follow(false);
    setLooked(null);
    setGoal(at(0));
  }

  /** Go to the next one from an index. Asked again after a rest, it goes on where it rested. */
  async function find(what: Wanted, direction: Direction, from: number) {
    const mine = ++sought.current;
    let index = findHere(log.rows, what, from, direction);
    try {
      if (index < 0) {
        const edge = (direction === "next" ? log.rows.at(-1) : log.rows[0])?.seq;
        const beyond = restOf(search, what, direction) ?? edge;
        setSearch("seeking");
        const there = beyond === undefined ? null : await findThere(log.instance, log.view, what, beyond, direction);
        if (mine !== sought.current) return;
        if (there === null || there.at === null) {
          const upTo = there?.upTo ?? null;
          setSearch(upTo === null ? "none" : { what: JSON.stringify(what), direction, upTo });
          return;
        }
        const here = await log.around(there.at.seq);
        if (mine !== sought.current) return;
        if (!here) {
          setSearch(null);
          return;
        } // the window tells why
        index = rowOf(log.rows, what, log.indexOf(there.at), direction);
      }
    } catch (reason) {
      if (!(reason instanceof Refusal)) throw reason;
      if (mine === sought.current) setSearch(reason);
      return;
    }
    setSearch(null);
    const row = log.rows[index];
    if (row !== undefined) look(only(row), index, "center");
  }

  function look(choice: Choice, index: number, align: Goal["align"]) {
    follow(false);
    setLooked(choice);
    setGoal({ index, align });
  }

  const forgetSearch = useCallback(() => {
    sought.current += 1;
    setSearch(null);
  }, []);

  return { goal, looked, search, setLooked, look, begin, toStart, toEnd, find, forgetSearch };
}

export function isRest(search: Search): search is Rest {
  return search !== null && typeof search === "object" && !(search instanceof Refusal);
}

function restOf(search: Search, what: Wanted, direction: Direction): number | null {
  if (!isRest(search) || search.direction !== direction || search.what !== JSON.stringify(what)) return null;
  return search.upTo;
}
