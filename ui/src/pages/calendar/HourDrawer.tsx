// One hour: what fires when, to the minute; and how what is over has ended.
import { Link } from "@tanstack/react-router";
import { Drawer, Grid, Skeleton } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { useNotes } from "../../parts/notes";
import { Refused } from "../../parts/Refused";
import { Time } from "../../parts/Time";
import { useFilters } from "../../state/url";
import { partsIn } from "../../time/format";
import { endedOf, type Hour } from "./cells";
import { MINUTE, textOf } from "./minutes";

type Props = { hour: Hour; now: number; zone: string; onClose: () => void };

export function HourDrawer({ hour, now, zone, onClose }: Props) {
  const narrow = Grid.useBreakpoint().md === false;
  const from = hour.from ?? 0;
  const clockAt = (at: number) => partsIn(new Date(at), zone, { seconds: false }).clock;
  return (
    <Drawer
      open
      size={narrow ? "100%" : 560}
      title={`${hour.date} ${clockAt(from)}–${clockAt(hour.to)} ${partsIn(new Date(from), zone).zone}`}
      onClose={onClose}
    >
      {(hour.to <= now || endedOf(hour) > 0) && <Over hour={hour} />}
      {hour.to > now && <Coming hour={hour} zone={zone} />}
    </Drawer>
  );
}

function Over({ hour }: { hour: Hour }) {
  const { t, i18n } = useTranslation("calendar");
  const [filters] = useFilters();
  const number = new Intl.NumberFormat(i18n.language);
  const period = { from: textOf(hour.from ?? 0), to: textOf(hour.to), group: filters.group };
  return (
    <section aria-label={t("hour.over")}>
      <h3 className="calendar-heading">{t("hour.over")}</h3>
      <ul className="calendar-ended">
        {(["failed", "success", "cancelled"] as const).map((status) => (
          <li key={status}>
            <Link to="/instances" search={{ ...period, status } as never}>
              <span className={`calendar-dot bar-${status}`} /> {t(`common:status.${status}`)}{" "}
              <strong className="number">{number.format(hour.ended[status])}</strong>
            </Link>
          </li>
        ))}
        <li>
          <Link to="/timeline" search={period as never}>
            {t("hour.timeline")}
          </Link>
        </li>
      </ul>
    </section>
  );
}

const ROWS = 200;

function Coming({ hour, zone }: { hour: Hour; zone: string }) {
  const { t } = useTranslation("calendar");
  const notes = useNotes();
  const [filters, change] = useFilters();
  const { group } = filters;
  const from = hour.from ?? 0;
  const minute = Number(filters.minute ?? NaN);
  const one = minute >= from && minute < hour.to ? minute : null;
  const load = useGet("/api/v1/schedules/load", {
    query: { from: textOf(from), to: textOf(hour.to), step: "1m", group, timezone: zone },
  });
  const firing = useGet(
    "/api/v1/schedules/upcoming",
    {
      query: {
        // What is over is no longer to come.
        from: textOf(one ?? from),
        to: textOf(one === null ? hour.to : one + MINUTE),
        group,
        limit: ROWS,
      },
    },
    { keep: true },
  );
  const items = firing.data?.items ?? [];
  const most = Math.max(1, ...(load.data?.items ?? []).map((step) => step.count));
  return (
    <section aria-label={t("hour.coming")}>
      <h3 className="calendar-heading">{t("hour.coming")}</h3>
      <Refused refusal={load.error ?? firing.error} again={() => void firing.refetch()} />
      <div className="calendar-minutes" role="group" aria-label={t("hour.minutes")}>
        {(load.data?.items ?? []).map((step) => {
          const at = Date.parse(step.at);
          const clock = partsIn(new Date(at), zone, { seconds: false }).clock;
          const told = t("hour.minute", { clock, count: step.count });
          return (
            <button
              key={step.at}
              type="button"
              aria-label={told}
              title={told}
              aria-pressed={at === one}
              tabIndex={step.count > 0 ? 0 : -1}
              onClick={() => change({ minute: at === one ? null : String(at) })}
            >
              <i style={{ height: `${(100 * step.count) / most}%` }} />
            </button>
          );
        })}
      </div>
      <p className="dim calendar-axis">
        <span>:00</span>
        <span>:15</span>
        <span>:30</span>
        <span>:45</span>
        <span>:59</span>
      </p>
      {firing.isPending && <Skeleton active title={false} />}
      {firing.data && items.length === 0 && (
        <p className="dim">{hour.rests === "all" ? t("hour.rests") : t("hour.nothing")}</p>
      )}
      {items.length > 0 && (
        <table className="rows">
          <tbody>
            {items.map((instant) => (
              <tr key={`${instant.task_id} ${instant.at}`}>
                <td className="rows-fixed">
                  <Time at={instant.at} zone={instant.timezone} as="clock" />
                </td>
                <td className="rows-name">
                  <Link to="/tasks/$id" params={{ id: String(instant.task_id) }}>
                    {instant.task_name}
                  </Link>
                </td>
                <td className="dim">
                  {instant.timezone}
                  {instant.note && <div className="calendar-note">{notes(instant.note, instant.timezone)}</div>}
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {firing.data?.next_cursor && <p className="dim">{t("hour.more", { count: items.length })}</p>}
    </section>
  );
}
