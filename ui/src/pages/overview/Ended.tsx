// What ended, step by step, by how it ended.
import { Segmented } from "antd";
import { useMemo } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Chart } from "../../parts/Chart";
import { Panel } from "../../parts/Panel";
import { Refused } from "../../parts/Refused";
import { useDark } from "../../state/preferences";
import { useFilters } from "../../state/url";
import { useZone } from "../../time/zone";
import { endedOption } from "./ended-option";

const RANGES = { "1h": 1, "6h": 6, "24h": 24, "7d": 168 } as const;
const STEPS: Record<Range, string> = { "1h": "1m", "6h": "5m", "24h": "15m", "7d": "2h" };
type Range = keyof typeof RANGES;

export function Ended() {
  const { t } = useTranslation("overview");
  const [filters, change] = useFilters();
  const range: Range = filters.range !== undefined && filters.range in RANGES ? (filters.range as Range) : "6h";
  return (
    <Panel
      boxed
      title={t("ended.title")}
      aside={
        <Segmented<Range>
          size="small"
          value={range}
          aria-label={t("ended.range")}
          onChange={(chosen) => change({ range: chosen === "6h" ? null : chosen })}
          options={Object.keys(RANGES) as Range[]}
        />
      }
    >
      <Bars key={range} range={range} />
    </Panel>
  );
}

function Bars({ range }: { range: Range }) {
  const { t } = useTranslation("overview");
  const dark = useDark();
  const zone = useZone();
  const hours = RANGES[range];
  // The end is now, whenever that is: only the length of the period is part of what is asked for.
  const series = useGet("/api/v1/stats/series", { query: { step: STEPS[range], ...since(hours) } }, { keep: true });
  const option = useMemo(
    () =>
      series.data
        ? endedOption(series.data, {
            dark,
            zone,
            words: {
              success: t("common:status.success"),
              failed: t("common:status.failed"),
              cancelled: t("common:status.cancelled"),
            },
          })
        : {},
    [series.data, dark, zone, t],
  );
  return (
    <>
      <Refused refusal={series.error} again={() => void series.refetch()} />
      {(series.data || !series.error) && <Chart option={option} height={188} label={t("ended.label")} />}
    </>
  );
}

/** The beginning of the period, by the minute, so that a minute's questions are one question. */
function since(hours: number): { from: string } {
  const minute = Math.floor(Date.now() / 60_000) * 60_000;
  return { from: new Date(minute - hours * 3_600_000).toISOString() };
}
