// The bars and marks of one task.
import { memo } from "react";
import { useTranslation } from "react-i18next";

import { LANE, type Row } from "./rows";

type Props = { row: Row; from: number; to: number; now: number };

export const Track = memo(function Track({ row, from, to, now }: Props) {
  const { t } = useTranslation("timeline");
  const part = (at: number) => (100 * (at - from)) / (to - from);
  return (
    <div className="timeline-track">
      {row.bars.map((bar, number) => {
        const start = Math.max(-1, part(Date.parse(bar.start_time)));
        const end = Math.min(101, part(bar.end_time === null ? now : Date.parse(bar.end_time)));
        if (end < 0 || start > 100) return null;
        return (
          <a
            key={`${bar.instance_id} ${bar.attempt} ${bar.start_time}`}
            href={`/instances/${bar.instance_id}`}
            // Two thousand stops would be in the way of whoever goes by keys; the table lists them all.
            tabIndex={-1}
            draggable={false}
            data-row={row.id}
            data-bar={number}
            data-instance={bar.instance_id}
            className={`timeline-bar timeline-${bar.status}`}
            style={{ left: `${start}%`, width: `${Math.max(0, end - start)}%`, top: 4 + bar.lane * LANE }}
            aria-label={`#${bar.instance_id} ${t(`common:status.${bar.status}`)}`}
          />
        );
      })}
      {row.marks.map((mark, number) => (
        <i
          key={mark.at}
          data-row={row.id}
          data-bar={number}
          data-mark
          className={`timeline-mark ${mark.note === null ? "" : "timeline-rests"}`}
          style={{ left: `${part(Date.parse(mark.at))}%` }}
        />
      ))}
    </div>
  );
});
