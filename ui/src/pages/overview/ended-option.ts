// The stacked bars of what ended, as ECharts wants them.
import type { EChartsCoreOption } from "echarts/core";

import type { components } from "../../api/schema";
import { outcomeColors } from "../../parts/colors";
import { partsIn } from "../../time/format";

type Series = components["schemas"]["Series"];
export type Outcomes = "success" | "failed" | "cancelled";
type Looks = { dark: boolean; zone: string; words: Record<Outcomes, string> };

// Failures are on top, where they are seen.
const ORDER: readonly Outcomes[] = ["success", "cancelled", "failed"];

export function endedOption(series: Series, { dark, zone, words }: Looks): EChartsCoreOption {
  const colors = outcomeColors(dark);
  const long = series.step_seconds >= 3_600;
  const times = series.items.map((point) => {
    const parts = partsIn(new Date(point.at), zone, { seconds: false });
    return long ? `${parts.date.slice(5)} ${parts.clock}` : parts.clock;
  });
  return {
    grid: { left: 4, right: 8, top: 8, bottom: 0, containLabel: true },
    tooltip: { trigger: "axis", axisPointer: { type: "shadow" }, confine: true },
    xAxis: { type: "category", data: times, axisTick: { show: false }, axisLabel: { hideOverlap: true } },
    yAxis: { type: "value", minInterval: 1, splitNumber: 3 },
    series: ORDER.map((outcome) => ({
      type: "bar",
      stack: "ended",
      name: words[outcome],
      data: series.items.map((point) => point[outcome]),
      itemStyle: { color: colors[outcome] },
      barCategoryGap: "15%",
    })),
  };
}
