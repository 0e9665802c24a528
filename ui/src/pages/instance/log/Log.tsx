// The log of an instance: however long it is, what is seen is there, and what is not seen is not.
import { App, Button, Empty, Skeleton } from "antd";
import { useCallback, useEffect, useRef, useState, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";

import { Refusal } from "../../../api/refusal";
import type { components } from "../../../api/schema";
import { Refused } from "../../../parts/Refused";
import { useFilters, writeSearch } from "../../../state/url";
import { useZone } from "../../../time/zone";
import { plainOf } from "./ansi";
import { addressed, chosenRows, clicked, stepped, type Choice } from "./choosing";
import { copied } from "./copying";
import type { Direction, Wanted } from "./finding";
import { LogBar } from "./LogBar";
import { LogRows } from "./LogRows";
import { fenceOf, numberOf, readAddress, type Row } from "./rows";
import type { View } from "./source";
import { useLog } from "./useLog";
import { useLook } from "./useLook";
import { useScroll } from "./useScroll";
import "./log.css";

type Instance = components["schemas"]["Instance"];
type Props = {
  instance: Instance;
  zone: string | null;
  /** Which attempt it was, by its fence. */
  attempts: ReadonlyMap<number, number>;
  /** How often by whoever looks at it: the end is what they wait for. */
  retried: number;
  onInstance: (instance: Instance) => void;
  /** Told of what is here; `quiet`: it changes no more by itself. */
  onRows: (rows: readonly Row[], quiet: boolean) => void;
};
/** Lines that fit a box of a few centimetres. */
const BRIEF = 12;
const ARROWS: Record<string, 1 | -1> = { ArrowDown: 1, ArrowUp: -1 };

export function Log({ instance, zone, attempts, retried, onInstance, onRows }: Props) {
  const { t } = useTranslation("instance");
  const { message } = App.useApp();
  const [filters, change] = useFilters();
  const shownZone = useZone(zone);
  const living = instance.end_time === null;
  const errors = filters.log === "errors";
  const wrap = filters.wrap === "1";
  const [unmarked, setUnmarked] = useState(false);
  const view: View = {
    only: errors ? (unmarked ? "stderr" : "errors") : "all",
    fence: filters.attempt && /^\d+$/.test(filters.attempt) ? Number(filters.attempt) : null,
  };
  const followed = useLog({ instance: instance.id, view, living, onInstance });
  const { window: log, version, following, follow } = followed;
  const line = readAddress(filters.line);
  const failed = instance.status === "failed" && retried === 0;
  const look = useLook(followed, {
    failed,
    message: instance.error_message,
    line,
    onUnmarked: useCallback(() => setUnmarked(true), []),
  });
  const { goal, looked, search, setLooked, toEnd } = look;
  const box = useRef<HTMLDivElement>(null);
  const { rows, scrolled, onScreen } = useScroll(followed, { living, wrap, box, goal });
  const choice: Choice | null = looked ?? (line && { line, to: readAddress(filters.to) });
  const chosen = chosenRows(log.rows, choice);
  const many = chosen === null ? [] : log.rows.slice(chosen.from, chosen.to + 1);

  const seen = useRef(retried);
  useEffect(() => {
    if (seen.current === retried) return;
    seen.current = retried;
    void toEnd(true);
  }, [retried, toEnd]);

  // Some attempts mark their errors and some, as commands do, write to stderr: the newest must not be left out.
  const newest = Math.max(0, ...attempts.keys());
  const last = log.rows.at(-1);
  const older = last !== undefined && fenceOf(last.seq) < newest;
  if (!unmarked && failed && log.view.only === "errors" && log.atEnd && older) setUnmarked(true);

  useEffect(() => onRows(log.rows, !living), [log, version, living, onRows]);

  const choiceNow = useRef(choice);
  useEffect(() => {
    choiceNow.current = choice;
  });
  const onChoose = useCallback(
    (row: Row, extend: boolean) => {
      setLooked(null);
      change(addressed(clicked(choiceNow.current, row, extend)));
    },
    [change, setLooked],
  );

  function find(what: Wanted, direction: Direction) {
    const here = onScreen();
    const edge = direction === "next" ? here.from : here.to;
    void look.find(what, direction, chosen?.from ?? edge);
  }

  /** Arrows choose line by line, Enter gives the chosen an address; the rest scrolls, as anywhere. */
  function pressed(event: KeyboardEvent) {
    if (event.target !== box.current || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = ARROWS[event.key];
    if (step !== undefined) {
      event.preventDefault();
      const next = stepped(log.rows, choice, step, { start: onScreen().from, extend: event.shiftKey });
      if (next !== null) look.look(next.choice, next.index, "auto");
    } else if (event.key === "Enter" && choice !== null) {
      setLooked(null);
      change(addressed(choice));
      const link = `${location.origin}/instances/${instance.id}${writeSearch(addressed(choice))}`;
      void copied(link).then((done) => message[done ? "success" : "error"](t(done ? "log.linkCopied" : "log.noLink")));
    }
  }

  // What is over and short needs no screen of its own where everything stands below each other.
  const brief = !living && log.version > 0 && log.atStart && log.rows.length <= BRIEF;
  return (
    <section className={`log${wrap ? " log-wrap" : ""}${brief ? " log-brief" : ""}`} aria-label={t("log.title")}>
      <LogBar
        log={log}
        living={living}
        following={following}
        search={search}
        unmarked={errors && unmarked}
        chosen={many}
        visible={() => log.rows.slice(onScreen().from, onScreen().to + 1)}
        onFollow={() => (following ? follow(false) : void toEnd(living))}
        onStart={() => void look.toStart()}
        onEnd={() => void toEnd(living)}
        onFind={find}
        onSought={look.forgetSearch}
      />
      <Refused refusal={log.refusal} again={() => void look.begin()} />
      {search instanceof Refusal && <Refused refusal={search} />}
      <div
        className="log-box"
        ref={box}
        role="log"
        aria-live="off"
        aria-label={t("log.title")}
        tabIndex={0}
        onScroll={scrolled}
        onKeyDown={pressed}
      >
        <LogRows
          instance={instance.id}
          shown={log.rows}
          rows={rows}
          zone={shownZone}
          attempts={attempts}
          chosen={chosen}
          onChoose={onChoose}
        />
        {log.version === 0 && <Skeleton active className="log-first" title={false} paragraph={{ rows: 6 }} />}
        {log.version > 0 && log.rows.length === 0 && log.refusal === null && (
          <Empty
            image={Empty.PRESENTED_IMAGE_SIMPLE}
            description={errors ? t("log.noErrors") : living ? t("log.nothingYet") : t("log.nothing")}
          />
        )}
      </div>
      {/* To who does not see: what the keys or a search have come to. */}
      <div className="log-said" role="status">
        {looked !== null && spoken(many, (count) => t("log.copyChosen", { count }))}
      </div>
      {!following && log.unseen > 0 && (
        <Button type="primary" size="small" className="log-new" onClick={() => void toEnd(living)}>
          {t("log.new", { count: log.unseen })}
        </Button>
      )}
    </section>
  );
}

function spoken(rows: readonly Row[], several: (count: number) => string): string {
  const [first] = rows;
  if (rows.length > 1) return several(rows.length);
  return first === undefined ? "" : `${numberOf(first)} ${plainOf(first.text)}`;
}
