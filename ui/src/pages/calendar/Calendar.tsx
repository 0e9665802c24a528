// How much is to come, hour by hour, and how what is over ended: to see where load could be spread.
import { LeftOutlined, RightOutlined } from "@ant-design/icons";
import { Alert, Button, Segmented, Select, Skeleton, Space } from "antd";
import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { BY_A_CLOCK } from "../../api/topics";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { useFilters } from "../../state/url";
import { partsIn } from "../../time/format";
import { useNowBy } from "../../time/now";
import { useZone } from "../../time/zone";
import { Beside } from "./Beside";
import { daysOf, filled, hoursOf, peakOf, restsOf, turned, type View } from "./cells";
import { Heat } from "./Heat";
import { HourDrawer } from "./HourDrawer";
import { textOf } from "./minutes";
import { Peak } from "./Peak";
import "./calendar.css";

export function CalendarPage() {
  const { t, i18n } = useTranslation("calendar");
  const [filters, change] = useFilters();
  const zone = useZone();
  const now = useNowBy(60_000);
  const view: View = filters.view === "week" ? "week" : "month";
  const today = partsIn(new Date(now), zone).date;
  const day = dateOf(filters.day) ?? today;
  const { group } = filters;
  const days = useMemo(() => daysOf(view, day), [view, day]);
  const hours = useMemo(() => hoursOf(days, zone), [days, zone]);
  const start = hours[0]?.from ?? hours[1]?.from ?? 0;
  const end = hours.at(-1)?.to ?? 0;
  const present = hours.find((one) => one.from !== null && one.from <= now && one.to > now); // the same for an hour

  const load = useGet(
    "/api/v1/schedules/load",
    { query: { from: textOf(present?.from ?? start), to: textOf(end), step: "1h", group, timezone: zone } },
    { keep: true, enabled: end > now },
  );
  const series = useGet(
    "/api/v1/stats/series",
    { query: { from: textOf(start), to: textOf(present?.to ?? end), step: "1h", group, timezone: zone } },
    { keep: true, every: BY_A_CLOCK, enabled: start < now },
  );
  const pauses = useGet("/api/v1/pauses");
  const windows = useGet("/api/v1/maintenance-windows");
  const groups = useGet("/api/v1/groups", {}, { every: 60_000 });
  const rests = useMemo(
    () =>
      restsOf(pauses.data?.items ?? [], windows.data?.items ?? []).filter(
        (rest) => rest.from < end && (rest.to ?? Infinity) > start,
      ),
    [pauses.data, windows.data, start, end],
  );
  const cells = useMemo(() => {
    const found = { coming: load.data?.items ?? [], ended: series.data?.items ?? [], rests };
    return filled(hours, { ...found, coming: end > now ? found.coming : [] }, group);
  }, [hours, load.data, series.data, rests, group, end, now]);
  const peak = peakOf(cells);
  const chosen = cells.find((cell) => cell.from !== null && String(cell.from) === filters.hour) ?? null;
  const choose = useChoose(change);
  const title = new Intl.DateTimeFormat(i18n.language, { year: "numeric", month: "long", timeZone: "UTC" });

  return (
    <Page title={t("title")} about={t("about")}>
      <div className="calendar-filters" role="search" aria-label={t("filter.label")}>
        <Space.Compact>
          <Button
            icon={<LeftOutlined />}
            aria-label={t(`before.${view}`)}
            onClick={() => change({ day: turned(view, day, -1), hour: null })}
          />
          <Button onClick={() => change({ day: null, hour: null })}>{t("today")}</Button>
          <Button
            icon={<RightOutlined />}
            aria-label={t(`after.${view}`)}
            onClick={() => change({ day: turned(view, day, 1), hour: null })}
          />
        </Space.Compact>
        <strong className="calendar-title">
          {view === "month" ? title.format(Date.parse(day)) : `${days[0]} – ${days.at(-1)}`}
        </strong>
        <Segmented<View>
          value={view}
          aria-label={t("view.label")}
          onChange={(next) => change({ view: next === "month" ? null : next })}
          options={[
            { value: "month", label: t("view.month") },
            { value: "week", label: t("view.week") },
          ]}
        />
        <Select
          allowClear
          showSearch
          value={group}
          placeholder={t("filter.group")}
          aria-label={t("filter.group")}
          onChange={(name: string | undefined) => change({ group: name })}
          options={(groups.data?.items ?? []).map(({ name }) => ({ value: name, label: name }))}
        />
        <span className="dim">{t("clock", { zone })}</span>
      </div>
      <Refused refusal={load.error ?? series.error} again={() => void load.refetch()} />
      {load.data?.truncated && end > now && (
        <Alert className="calendar-alert" type="warning" showIcon title={t("truncated")} />
      )}
      {peak && <Peak hour={peak} group={group} zone={zone} onChoose={choose} />}
      <div className="calendar-body">
        <div className="calendar-main">
          {load.isLoading || series.isLoading ? (
            <Skeleton active paragraph={{ rows: 12 }} />
          ) : (
            <Heat hours={cells} now={now} today={today} chosen={chosen?.from ?? null} onChoose={choose} />
          )}
          <p className="calendar-legend dim">
            {(["past", "failed", "coming", "rests-all"] as const).map((mark) => (
              <span key={mark}>
                <i className={`calendar-cell calendar-${mark === "failed" ? "past calendar-failed" : mark}`} />{" "}
                {t(`legend.${mark}`)}
              </span>
            ))}
          </p>
        </div>
        <Beside busiest={end > now ? (load.data?.busiest ?? []) : []} rests={rests} />
      </div>
      {chosen && (
        <HourDrawer hour={chosen} now={now} zone={zone} onClose={() => change({ hour: null, minute: null })} />
      )}
    </Page>
  );
}

type Change = ReturnType<typeof useFilters>[1];

function useChoose(change: Change): (from: number) => void {
  return useCallback((from: number) => change({ hour: String(from), minute: null }), [change]);
}

function dateOf(text: string | undefined): string | null {
  return text !== undefined && /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) ? text : null;
}
