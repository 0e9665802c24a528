// What ran when, by task, and what is to come.
import { Alert, Empty, Segmented, Skeleton } from "antd";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { useFilters } from "../../state/url";
import { useNowBy } from "../../time/now";
import { Choices } from "./Choices";
import { BarTable } from "./BarTable";
import { Gantt } from "./Gantt";
import { Legend } from "./Legend";
import { periodOf, written, type Period } from "./period";
import { rowsOf } from "./rows";
import "./timeline.css";

const MOST = 2_000;
const AHEAD = 200;
const MINUTE = 60_000;

export function TimelinePage() {
  const { t } = useTranslation("timeline");
  const [filters, change] = useFilters();
  const now = useNowBy(5_000);
  const { from, to, group, q } = filters;
  const period = useMemo(() => periodOf({ from: from ?? "", to: to ?? "" }, now), [from, to, now]);
  const task = filters.task !== undefined && /^\d{1,18}$/.test(filters.task) ? Number(filters.task) : undefined;
  const asked = written({ ...period, from: period.live ? Math.floor(period.from / MINUTE) * MINUTE : period.from });
  const known = { group, task_id: task };
  const past = useGet(
    "/api/v1/stats/timeline",
    { query: { ...known, q, limit: MOST, from: asked.from, to: period.to < now ? asked.to : undefined } },
    { keep: true, enabled: period.from < now },
  );
  const ahead = useGet(
    "/api/v1/schedules/upcoming",
    {
      query: {
        ...known,
        q,
        limit: AHEAD,
        from: period.from > now ? asked.from : undefined,
        to: written({ ...period, to: Math.ceil(period.to / MINUTE) * MINUTE }).to,
      },
    },
    { keep: true, enabled: period.to > now + MINUTE },
  );
  const bars = useMemo(() => (period.from < now ? (past.data?.items ?? []) : []), [past.data, period.from, now]);
  const instants = useMemo(
    () => (ahead.data?.items ?? []).filter((one) => Date.parse(one.at) <= period.to),
    [ahead.data, period.to],
  );
  const rows = useMemo(() => rowsOf(bars, period.to > now ? instants : [], now), [bars, instants, period.to, now]);
  const table = filters.as === "table";
  const onPeriod = (next: Period) => change(written(next));

  return (
    <Page
      title={t("title")}
      actions={
        <Segmented
          value={table ? "table" : "drawing"}
          aria-label={t("as")}
          onChange={(as) => change({ as: as === "table" ? "table" : null })}
          options={[
            { value: "drawing", label: t("asDrawing") },
            { value: "table", label: t("asTable") },
          ]}
        />
      }
    >
      <Choices period={period} now={now} task={task} onPeriod={onPeriod} />
      <Refused refusal={past.error ?? ahead.error} again={() => void past.refetch()} />
      {past.data?.truncated && (
        <Alert className="timeline-note" type="warning" showIcon title={t("truncated", { count: bars.length })} />
      )}
      {past.isPending && period.from < now ? (
        <Skeleton active paragraph={{ rows: 8 }} />
      ) : table ? (
        <BarTable bars={bars} />
      ) : rows.length === 0 ? (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={q || group || task ? t("noneHere") : t("none")} />
      ) : (
        <>
          <Gantt rows={rows} period={period} now={now} onPeriod={onPeriod} />
          <Legend more={Boolean(ahead.data?.next_cursor) && period.to > now ? AHEAD : 0} />
        </>
      )}
    </Page>
  );
}
