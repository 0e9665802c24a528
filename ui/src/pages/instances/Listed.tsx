// The instances that the filters fit: the list, what is selected in it, and what can be done to many.
import { Button, Empty } from "antd";
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { fetchPath, useGet } from "../../api/queries";
import { Refused } from "../../parts/Refused";
import { useMay, useMe } from "../../state/session";
import { useStore } from "../../state/store";
import type { Filters } from "../../state/url";
import { Bulk, type Target } from "./Bulk";
import { Columns } from "./Columns";
import { sizeOf, type Instance } from "./feed";
import { Feeding } from "./feeding";
import { Foot } from "./Foot";
import { useTouched } from "./reading";
import type { Deeds } from "./Row";
import { Rows } from "./Rows";
import { useSelection } from "./selection";
import { Tabs } from "./Tabs";
import { canCancel, canRetry, suits, wantedBy, type Wanted } from "./wanted";

type Props = {
  filters: Filters;
  /** Which entry of the browser's past this is, and what it asks for. */
  place: string;
  change: (change: Record<string, string | null>) => void;
  clear: () => void;
};
type Kept = { place: string; who: string; feeding: Feeding; wanted: Wanted; offset: number };

/** What was left behind by going to an instance: going back finds it where it was, unless it was somebody else's. */
let kept: Kept | null = null;

const LEAST_ROW = 34;

function open(filters: Filters, place: string, who: string): Kept {
  if (kept?.place === place && kept.who === who) return kept;
  kept = null;
  const wanted = wantedBy(filters, Date.now());
  const feeding = new Feeding((cursor, limit, signal) =>
    fetchPath("/api/v1/instances", { query: { ...wanted, limit, ...(cursor ? { cursor } : {}) } }, signal),
  );
  return { place, who, feeding, wanted, offset: 0 };
}

export function Listed({ filters, place, change, clear }: Props) {
  const { t } = useTranslation("instances");
  const may = useMay("operator");
  const { id: who } = useMe();
  const [opened] = useState(() => open(filters, place, who));
  const { feeding, wanted } = opened;
  // One screen and a little: the newest page is fetched again with every event.
  const [limit] = useState(() => Math.min(200, Math.ceil(window.innerHeight / LEAST_ROW / 20) * 20 + 20));
  const head = useGet("/api/v1/instances", { query: { ...wanted, limit } });
  const { feed, news, refusal } = useStore(feeding.state);
  const [target, setTarget] = useState<Target | null>(null);
  const [touched, touch] = useTouched();
  const [scrolled, setScrolled] = useState(opened.offset > 0);
  const selection = useSelection(feeding);
  const held = touched || scrolled || target !== null || selection.chosen.size > 0;

  useEffect(() => {
    feeding.start();
    return () => feeding.stop();
  }, [feeding]);
  useEffect(() => {
    if (head.data) feeding.take(head.data, limit, held);
  }, [feeding, head.data, limit, held]);
  const leave = useCallback(
    (offset: number) => {
      kept = { place, who, feeding, wanted, offset };
    },
    [place, who, feeding, wanted],
  );

  const retry = useAct(
    (row: Instance) =>
      answer(
        client.POST("/api/v1/instances/{instance_id}/retry", { params: ofOne(row), body: { current_version: false } }),
      ),
    {
      done: (row) => t("retried", { id: row.id }),
      refresh: ["/api/v1/instances", "/api/v1/stats"],
      then: (row) => feeding.update([row]),
    },
  );
  // The rows are drawn again only when they change, so they hold on to one and the same way to act.
  const retrying = useRef(retry.run);
  useEffect(() => {
    retrying.current = retry.run;
  });
  const { select } = selection;
  const deeds = useMemo<Deeds | null>(
    () =>
      may
        ? {
            select,
            retry: (row) => void retrying.current(row),
            cancel: (row) => setTarget({ action: "cancel", rows: [row] }),
          }
        : null,
    [may, select],
  );

  const chosen = [...selection.chosen.values()];
  const filtered = Object.keys(wanted).some((name) => name !== "status");
  const empty = feed !== null && sizeOf(feed) === 0 && feed.next === null;
  return (
    <>
      <div className="instances-bar">
        <Tabs filters={filters} change={change} />
        <div className="instances-many">
          {chosen.length > 0 ? (
            <>
              <span role="status">{t("selected", { count: chosen.length })}</span>
              <Deed action="retry" rows={chosen.filter(canRetry)} onAct={setTarget} />
              <Deed action="cancel" rows={chosen.filter(canCancel)} onAct={setTarget} />
              <Button type="text" onClick={selection.clear}>
                {t("unselect")}
              </Button>
            </>
          ) : (
            may &&
            !empty &&
            (["retry", "cancel"] as const).map(
              (action) =>
                suits(action, wanted) && (
                  <Button key={action} onClick={() => setTarget({ action, wanted })}>
                    {t(`all.${action}`)}
                  </Button>
                ),
            )
          )}
          <Columns />
        </div>
      </div>
      {feed === null && <Refused refusal={head.error} again={() => void head.refetch()} />}
      <Refused refusal={refusal} again={() => feeding.goOn()} />
      {empty ? (
        <Empty
          className="instances-empty"
          description={filtered ? t("empty.filtered") : t(`empty.${wanted.status ?? "all"}`)}
        >
          {filtered ? <Button onClick={clear}>{t("empty.clear")}</Button> : <Link to="/tasks">{t("empty.tasks")}</Link>}
        </Empty>
      ) : (
        <Rows
          feeding={feeding}
          feed={feed}
          first={opened.offset}
          news={news}
          deeds={deeds}
          selection={selection}
          onTouch={touch}
          onScrolled={setScrolled}
          onLeave={leave}
        />
      )}
      {!empty && <Foot feeding={feeding} />}
      {target && (
        <Bulk
          target={target}
          onDone={selection.clear}
          onChanged={(rows) => feeding.update(rows)}
          onClose={() => setTarget(null)}
        />
      )}
    </>
  );
}

function ofOne(row: Instance) {
  return { path: { instance_id: row.id } };
}

type DeedProps = { action: "retry" | "cancel"; rows: Instance[]; onAct: (target: Target) => void };

function Deed({ action, rows, onAct }: DeedProps) {
  const { t } = useTranslation("instances");
  if (rows.length === 0) return null;
  return (
    <Button danger={action === "cancel"} onClick={() => onAct({ action, rows })}>
      {t(`these.${action}`, { count: rows.length })}
    </Button>
  );
}
