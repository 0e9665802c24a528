// The parts of ECharts that are used, and how charts look; loaded only with the first chart.
import { BarChart, CustomChart, HeatmapChart, LineChart, ScatterChart } from "echarts/charts";
import {
  CalendarComponent,
  DataZoomComponent,
  GridComponent,
  LegendComponent,
  MarkLineComponent,
  TooltipComponent,
  VisualMapComponent,
} from "echarts/components";
import { init, use as register, type EChartsType } from "echarts/core";
import { CanvasRenderer } from "echarts/renderers";

register([
  BarChart,
  CalendarComponent,
  CanvasRenderer,
  CustomChart,
  DataZoomComponent,
  GridComponent,
  HeatmapChart,
  LegendComponent,
  LineChart,
  MarkLineComponent,
  ScatterChart,
  TooltipComponent,
  VisualMapComponent,
]);

export function draw(box: HTMLElement, dark: boolean): EChartsType {
  const chart = init(box, dark ? "dark" : undefined, { renderer: "canvas" });
  chart.setOption({ backgroundColor: "transparent", animation: false });
  return chart;
}
