// The rows that are in the window, out of however many there are.
import { ArrowUpOutlined } from "@ant-design/icons";
import { useVirtualizer } from "@tanstack/react-virtual";
import { Button, Checkbox, Skeleton } from "antd";
import { useEffect, useLayoutEffect, useRef, useState, type CSSProperties } from "react";
import { useTranslation } from "react-i18next";

import { usePreferences } from "../../state/preferences";
import { useStore } from "../../state/store";
import { useZone } from "../../time/zone";
import { chosenColumns, layoutOf, shownIn } from "./columns";
import { rowAt, sizeOf, type Feed } from "./feed";
import type { Feeding, State } from "./feeding";
import { useSeenAgain } from "./reading";
import { Row, type Deeds } from "./Row";
import type { Selection } from "./selection";
import { useTaskZones } from "./zones";

const ROW = 34;
const CARD = 92;
const HEAD = 32;
const NARROW = 640;
const MOST_ASKED = 25;

type Props = {
  feeding: Feeding;
  feed: Feed | null;
  /** Where to begin, in pixels. */
  first: number;
  news: State["news"];
  deeds: Deeds | null;
  selection: Selection;
  onTouch: () => void;
  onScrolled: (scrolled: boolean) => void;
  onLeave: (offset: number) => void;
};

export function Rows({ feeding, feed, first, news, deeds, selection, onTouch, onScrolled, onLeave }: Props) {
  const { t } = useTranslation("instances");
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const picked = useStore(chosenColumns);
  const count = feed === null ? 0 : sizeOf(feed);
  const narrow = width > 0 && width < NARROW;
  const height = narrow ? CARD : ROW;
  const columns = narrow ? null : shownIn(width, picked);
  const layout = layoutOf(columns ?? [], deeds !== null);

  useLayoutEffect(() => {
    const seen = box.current;
    if (seen === null) return;
    const watching = new ResizeObserver(() => setWidth(seen.clientWidth));
    watching.observe(seen);
    return () => watching.disconnect();
  }, []);

  const virtual = useVirtualizer({
    count,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    getItemKey: (index) => (feed && rowAt(feed, index)?.id) ?? index,
    overscan: 6,
    initialOffset: first,
    scrollPaddingStart: HEAD,
  });
  useEffect(() => virtual.measure(), [virtual, height]);
  const offset = virtual.scrollOffset ?? 0;
  useEffect(() => onScrolled(offset > 2), [offset, onScrolled]);
  const last = useRef(offset);
  useEffect(() => {
    last.current = offset;
  }, [offset]);
  useEffect(() => () => onLeave(last.current), [onLeave]);

  const items = virtual.getVirtualItems();
  const [from, to] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  useEffect(() => feeding.look(from, to), [feeding, from, to]);
  const shown = items.flatMap((item) => {
    const found = feed && rowAt(feed, item.index);
    return found ? [{ item, ...found }] : [];
  });
  const living = shown.filter(({ row }) => row && row.end_time === null).map(({ id }) => id);
  useSeenAgain(feeding, offset > 2 ? living.slice(0, MOST_ASKED) : []);
  const { clock } = usePreferences();
  const usual = useZone();
  const zones = useTaskZones(shown.flatMap(({ row }) => (row ? [row.task_id] : [])));

  const style = { "--columns": layout.template, "--least": `${layout.least}px` } as CSSProperties;
  const some = selection.chosen.size > 0;
  return (
    <div className="instances-frame">
      {news.count > 0 && (
        <Button
          type="primary"
          shape="round"
          className="instances-news"
          icon={<ArrowUpOutlined aria-hidden />}
          onClick={() => {
            selection.clear();
            feeding.release();
            virtual.scrollToOffset(0);
          }}
        >
          {t(news.all ? "newsAtLeast" : "news", { count: news.count })}
        </Button>
      )}
      <div
        ref={box}
        className={narrow ? "instances-box instances-narrow" : "instances-box"}
        role="table"
        aria-label={t("title")}
        aria-rowcount={feed?.next === null ? count + 1 : -1}
        tabIndex={0}
        style={style}
        onPointerMove={onTouch}
        onKeyDown={onTouch}
        onWheel={onTouch}
      >
        {columns && (
          <div role="row" aria-rowindex={1} className="instances-head">
            {deeds && (
              <span role="columnheader" className="instances-check">
                <Checkbox
                  aria-label={t("selectAll")}
                  checked={some && selection.chosen.size >= count}
                  indeterminate={some && selection.chosen.size < count}
                  onChange={(event) => selection.all(event.target.checked)}
                />
              </span>
            )}
            {columns.map(({ name, label, number }) => (
              <span key={name} role="columnheader" className={number ? "instances-number" : undefined}>
                {t(label)}
              </span>
            ))}
            {deeds && (
              <span role="columnheader">
                <span className="instances-hidden">{t("column.actions")}</span>
              </span>
            )}
          </div>
        )}
        {feed === null && <Skeleton className="instances-skeleton" active title={false} paragraph={{ rows: 12 }} />}
        <div role="rowgroup" className="instances-rows" style={{ height: virtual.getTotalSize() }}>
          {width > 0 &&
            shown.map(({ item, id, row }) => (
              <Row
                key={id}
                id={id}
                row={row}
                index={item.index}
                top={item.start}
                columns={columns}
                zone={clock === "task" ? ((row && zones.get(row.task_id)) ?? usual) : usual}
                own={row ? zones.get(row.task_id) : undefined}
                t={t}
                selected={selection.chosen.has(id)}
                deeds={deeds}
              />
            ))}
        </div>
      </div>
    </div>
  );
}
