// The drawing: a row a task, a bar for what ran, a hollow mark for what is to come. Bars are links, so that they open
// in another tab, are found by their name, and look as the theme has it.
import { useVirtualizer } from "@tanstack/react-virtual";
import { Link, useNavigate } from "@tanstack/react-router";
import { useRef, useState, type MouseEvent } from "react";
import { useTranslation } from "react-i18next";

import { useZone } from "../../time/zone";
import { ticks, type Period } from "./period";
import { heightOf, type Row } from "./rows";
import { Tip, type Pointed } from "./Tip";
import { Track } from "./Track";
import { useDrag, useWheel } from "./zooming";

type Props = { rows: readonly Row[]; period: Period; now: number; onPeriod: (period: Period) => void };

export function Gantt({ rows, period, now, onPeriod }: Props) {
  const { t } = useTranslation("timeline");
  const zone = useZone();
  const navigate = useNavigate();
  const box = useRef<HTMLDivElement>(null);
  const tracks = useRef<HTMLDivElement>(null);
  const [pointed, setPointed] = useState<Pointed | null>(null);
  const drag = useDrag(tracks, period, onPeriod);
  useWheel(tracks, box, period, onPeriod);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (number) => (rows[number] ? heightOf(rows[number]) : 22),
    getItemKey: (number) => rows[number]?.id ?? number,
    overscan: 8,
  });
  const place = (at: number) => `${(100 * (at - period.from)) / (period.to - period.from)}%`;

  function point(event: { target: EventTarget }) {
    const bar = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-bar]") : null;
    const row = bar === null ? undefined : rows.find((one) => one.id === Number(bar.dataset.row));
    if (bar === null || row === undefined) {
      setPointed(null);
      return;
    }
    const number = Number(bar.dataset.bar);
    const box = bar.getBoundingClientRect();
    setPointed({ row, bar: row.bars[number], mark: bar.dataset.mark ? row.marks[number] : undefined, box });
  }

  function open(event: MouseEvent) {
    const bar = event.target instanceof Element ? event.target.closest<HTMLAnchorElement>("a[data-instance]") : null;
    // With a key held down the browser opens another tab by itself.
    if (bar === null || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    if (!drag.dragged()) void navigate({ to: "/instances/$id", params: { id: bar.dataset.instance ?? "" } });
  }

  return (
    <div className="timeline-box" ref={box} role="group" aria-label={t("drawing")} onScroll={() => setPointed(null)}>
      <div className="timeline-axis">
        <span className="timeline-label dim">{zone}</span>
        <div className="timeline-ticks" ref={tracks}>
          {ticks(period, zone, 10).map((tick) => (
            <span key={tick.at} className="timeline-tick" style={{ left: place(tick.at) }}>
              {tick.label}
            </span>
          ))}
        </div>
      </div>
      <div
        className="timeline-rows"
        style={{ height: virtual.getTotalSize() }}
        onMouseOver={point}
        onMouseLeave={() => setPointed(null)}
        onClick={open}
        {...drag.handlers}
      >
        <div className="timeline-over" aria-hidden>
          {ticks(period, zone, 10).map((tick) => (
            <i key={tick.at} className="timeline-line" style={{ left: place(tick.at) }} />
          ))}
          {now > period.from && now < period.to && (
            <i className="timeline-now" style={{ left: place(now) }} title={t("now")} />
          )}
          {drag.selected && (
            <i
              className="timeline-selected"
              style={{ left: `${100 * drag.selected[0]}%`, width: `${100 * (drag.selected[1] - drag.selected[0])}%` }}
            />
          )}
        </div>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index];
          if (row === undefined) return null;
          return (
            <div
              key={item.key}
              className="timeline-row"
              style={{ height: heightOf(row), transform: `translateY(${item.start}px)` }}
            >
              <Link to="/tasks/$id" params={{ id: String(row.id) }} className="timeline-label" title={row.name}>
                {row.name}
              </Link>
              <Track row={row} from={period.from} to={period.to} now={now} />
            </div>
          );
        })}
      </div>
      {pointed && !drag.selected && <Tip pointed={pointed} />}
    </div>
  );
}
