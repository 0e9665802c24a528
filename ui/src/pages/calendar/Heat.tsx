// The heat map: a row a day, a column an hour. Each cell is a button; the arrow keys go from one to the next.
import { memo, useMemo, type KeyboardEvent } from "react";
import { useTranslation } from "react-i18next";

import { endedOf, heatOf, type Hour } from "./cells";

type Props = {
  hours: readonly Hour[];
  now: number;
  today: string;
  chosen: number | null;
  onChoose: (from: number) => void;
};

/** Numbers below this are shown as they are. */
const PLAIN = 10_000;

export const Heat = memo(function Heat({ hours, now, today, chosen, onChoose }: Props) {
  const { t, i18n } = useTranslation("calendar");
  const number = useMemo(
    () => new Intl.NumberFormat(i18n.language, { notation: "compact", maximumFractionDigits: 1 }),
    [i18n.language],
  );
  const weekday = useMemo(
    () => new Intl.DateTimeFormat(i18n.language, { weekday: "short", timeZone: "UTC" }),
    [i18n.language],
  );
  // Of the hour that has begun only a part is to come: it is no measure for the others.
  const ahead = hours.filter((one) => one.from !== null && one.from > now).map((one) => one.coming);
  const behind = hours.filter((one) => one.to <= now).map(endedOf);
  const days = [...new Set(hours.map((one) => one.date))];
  const entry = chosen ?? hours.find((one) => one.from !== null && one.to > now)?.from ?? hours[0]?.from;

  function cell(hour: Hour) {
    if (hour.from === null) return <td key={hour.hour} className="calendar-skipped" />;
    const past = hour.to <= now;
    const count = past ? endedOf(hour) : hour.coming;
    const { failed } = hour.ended;
    const classes = [
      "calendar-cell",
      past ? "calendar-past" : "calendar-coming",
      failed > 0 && "calendar-failed",
      hour.rests && `calendar-rests-${hour.rests}`,
      hour.from === chosen && "calendar-chosen",
      hour.from <= now && !past && "calendar-now",
    ];
    const shown = count < PLAIN ? String(count) : number.format(count);
    const told = [
      count >= PLAIN && shown,
      `${hour.date} ${clock(hour.hour)}`,
      (past || endedOf(hour) > 0) && t("cell.ended", { count: endedOf(hour) }),
      failed > 0 && t("cell.failed", { count: failed }),
      !past && t("cell.coming", { count: hour.coming }),
      hour.rests && t(`cell.rests.${hour.rests}`),
    ].filter(Boolean);
    return (
      <td key={hour.hour}>
        <button
          type="button"
          className={classes.filter(Boolean).join(" ")}
          style={{ "--heat": `${Math.round(70 * heatOf(count, past ? behind : ahead))}%` } as React.CSSProperties}
          aria-label={told.join(", ")}
          title={told.join("\n")}
          tabIndex={hour.from === entry ? 0 : -1}
          data-from={hour.from}
        >
          {count > 0 ? shown : ""}
        </button>
      </td>
    );
  }

  function go(event: KeyboardEvent<HTMLTableElement>) {
    const steps: Record<string, number> = { ArrowLeft: -1, ArrowRight: 1, ArrowUp: -24, ArrowDown: 24 };
    const step = steps[event.key];
    const from = event.target instanceof HTMLElement ? Number(event.target.dataset.from) : NaN;
    if (step === undefined || Number.isNaN(from)) return;
    event.preventDefault();
    let at = hours.findIndex((one) => one.from === from) + step;
    while (hours[at]?.from === null) at += Math.sign(step); // the clock skips it
    event.currentTarget.querySelector<HTMLElement>(`[data-from="${hours[at]?.from}"]`)?.focus();
  }

  return (
    <div className="calendar-scroll">
      <table
        className={`calendar-heat ${days.length > 7 ? "calendar-month" : ""}`}
        aria-label={t("heat")}
        onKeyDown={go}
        onClick={(event) => {
          const button = event.target instanceof Element ? event.target.closest<HTMLElement>("[data-from]") : null;
          if (button) onChoose(Number(button.dataset.from));
        }}
      >
        <thead>
          <tr>
            <th />
            {Array.from({ length: 24 }, (_, hour) => (
              <th key={hour} scope="col">
                {String(hour).padStart(2, "0")}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {days.map((date, row) => (
            <tr key={date} className={date === today ? "calendar-today" : undefined}>
              <th scope="row">
                {weekday.format(Date.parse(date))} <span className="number">{date.slice(5)}</span>
              </th>
              {hours.slice(row * 24, row * 24 + 24).map(cell)}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
});

function clock(hour: number): string {
  return `${String(hour).padStart(2, "0")}:00`;
}
