// How long a task took lately: a point an ending, coloured by how it went, and lines for what is usual.
import type { EChartsCoreOption } from "echarts/core";

import type { components } from "../../api/schema";
import { outcomeColors, type Outcome } from "../../parts/colors";
import { lengthOf, partsIn } from "../../time/format";

export type Stats = components["schemas"]["TaskStats"];
export type Ending = components["schemas"]["TaskEnding"];

export function outcomeOf(ending: Ending): Outcome {
  return ending.skip_reason ? "skipped" : ending.status;
}

type Look = { dark: boolean; zone: string; median: string; p95: string; word: (outcome: Outcome) => string };

/** What was skipped took no time, and is no point. Points stand at equal distances: rare and frequent tasks alike. */
export function trendOption(stats: Stats, look: Look): EChartsCoreOption {
  const colors = outcomeColors(look.dark);
  const ran = stats.endings.filter((one) => one.start_time !== null && !one.skip_reason);
  const when = (one: Ending) => {
    const { date, clock } = partsIn(new Date(one.end_time), look.zone, { seconds: false });
    return `${date.slice(5)} ${clock}`;
  };
  const usual = [
    { at: stats.median_ms, name: look.median, type: "dashed", place: "insideEndBottom" },
    { at: stats.p95_ms, name: look.p95, type: "dotted", place: "insideEndTop" },
  ].filter((line) => line.at !== null);
  return {
    grid: { left: 8, right: 12, top: 12, bottom: 4, containLabel: true },
    tooltip: {
      trigger: "item",
      formatter: ({ dataIndex }: { dataIndex: number }) => {
        const one = ran[dataIndex];
        if (!one) return "";
        return `#${one.instance_id} ${look.word(outcomeOf(one))}<br>${lengthOf(one.duration_ms)}<br>${when(one)}`;
      },
    },
    xAxis: {
      type: "category",
      data: ran.map(when),
      axisTick: { show: false },
      axisLabel: { hideOverlap: true, alignMaxLabel: "right" },
    },
    yAxis: { type: "value", min: 0, axisLabel: { formatter: (ms: number) => lengthOf(ms) }, splitNumber: 3 },
    series: [
      {
        type: "scatter",
        symbolSize: 8,
        data: ran.map((one) => ({ value: one.duration_ms, itemStyle: { color: colors[outcomeOf(one)] } })),
        markLine: {
          silent: true,
          symbol: "none",
          lineStyle: { color: colors.cancelled },
          label: { formatter: "{b}", color: colors.cancelled },
          data: usual.map((line) => ({
            yAxis: line.at,
            name: line.name,
            lineStyle: { type: line.type },
            label: { position: line.place },
          })),
        },
      },
    ],
  };
}

/** How many of those that were not skipped have failed. */
export function failedShare(endings: readonly Ending[]): { failed: number; ran: number } {
  const ran = endings.filter((one) => !one.skip_reason);
  return { failed: ran.filter((one) => one.status === "failed").length, ran: ran.length };
}
