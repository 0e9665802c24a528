// What is pointed at, in a few lines beside it.
import { createPortal } from "react-dom";
import { useTranslation } from "react-i18next";

import { Status } from "../../parts/Status";
import { Length, Time } from "../../parts/Time";
import type { Instant, Laid, Row } from "./rows";

export type Pointed = { row: Row; bar?: Laid; mark?: Instant; box: DOMRect };

export function Tip({ pointed: { row, bar, mark, box } }: { pointed: Pointed }) {
  const { t } = useTranslation("timeline");
  const below = box.bottom + 150 < window.innerHeight;
  const left = Math.max(8, Math.min(box.left, window.innerWidth - 308));
  return createPortal(
    <div
      className="timeline-tip"
      role="tooltip"
      style={below ? { left, top: box.bottom + 6 } : { left, bottom: window.innerHeight - box.top + 6 }}
    >
      <strong>{row.name}</strong>
      {mark ? (
        <>
          <div>
            {t("fires")} <Time at={mark.at} zone={mark.timezone} />
          </div>
          {mark.note && <div className="dim">{mark.note}</div>}
        </>
      ) : (
        bar && (
          <>
            <div>
              <Status status={bar.status} /> #{bar.instance_id}
              {bar.attempt > 1 && ` · ${t("attempt", { number: bar.attempt })}`}
            </div>
            <div>
              <Time at={bar.start_time} /> · <Length from={bar.start_time} to={bar.end_time} />
            </div>
            {bar.executor_id && <div className="dim timeline-cut">{bar.executor_id}</div>}
          </>
        )
      )}
    </div>,
    document.body,
  );
}
