// The rows of a log that are on the screen, where they would be if all were there.
import { useTranslation } from "react-i18next";

import { useFilters } from "../../../state/url";
import type { Chosen } from "./choosing";
import { LogRow } from "./LogRow";
import { addressOf, fenceOf, type Row } from "./rows";
import type { Rows } from "./useScroll";

type Props = {
  instance: number;
  shown: readonly Row[];
  rows: Rows;
  zone: string;
  attempts: ReadonlyMap<number, number>;
  chosen: Chosen;
  onChoose: (row: Row, extend: boolean) => void;
};

export function LogRows({ instance, shown, rows, zone, attempts, chosen, onChoose }: Props) {
  const { t } = useTranslation("instance");
  const [filters] = useFilters();
  const items = rows.getVirtualItems();
  // What was asked for is written before anybody is at work.
  const heading = (attempt: number) =>
    attempt === 0 ? t("log.before") : t("log.attempt", { number: attempts.get(attempt) ?? attempt });
  return (
    <div className="log-all" style={{ height: rows.getTotalSize() }}>
      <div className="log-some" style={{ transform: `translateY(${items[0]?.start ?? 0}px)` }}>
        {items.map(({ index, key }) => {
          const row = shown[index];
          if (row === undefined) return null;
          const attempt = fenceOf(row.seq);
          return (
            <div
              key={key}
              data-index={index}
              ref={filters.wrap === "1" ? rows.measureElement : undefined}
              className="log-slot"
            >
              <LogRow
                row={row}
                zone={zone}
                times={filters.times !== "0"}
                wanted={filters.find ?? ""}
                chosen={chosen !== null && index >= chosen.from && index <= chosen.to}
                heading={row.kind === "attempt" ? heading(attempt) : ""}
                href={`/instances/${instance}?line=${addressOf(row)}`}
                onChoose={onChoose}
              />
            </div>
          );
        })}
      </div>
    </div>
  );
}
