// A chart; ECharts comes only when one is drawn.
import { Skeleton } from "antd";
import type { EChartsCoreOption, EChartsType } from "echarts/core";
import { useEffect, useRef, useState } from "react";

import { useDark } from "../state/preferences";

type Props = {
  option: EChartsCoreOption;
  height: number;
  /** What it shows, for whoever cannot see it. */
  label: string;
  /** Told of clicks, with ECharts' own event. */
  onClick?: (event: { dataIndex: number; seriesIndex?: number; name: string; value: unknown; data: unknown }) => void;
};

export function Chart({ option, height, label, onClick }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const chart = useRef<EChartsType | null>(null);
  const clicked = useRef(onClick);
  const dark = useDark();
  const [ready, setReady] = useState(false);

  useEffect(() => {
    clicked.current = onClick;
  }, [onClick]);

  useEffect(() => {
    let gone = false;
    let made: EChartsType | null = null;
    const seen = new ResizeObserver(() => made?.resize());
    void import("./charts").then(({ draw }) => {
      if (gone || box.current === null) return;
      made = draw(box.current, dark);
      made.on("click", (event) => clicked.current?.(event as never));
      chart.current = made;
      seen.observe(box.current);
      setReady(true);
    });
    return () => {
      gone = true;
      seen.disconnect();
      made?.dispose();
      chart.current = null;
      setReady(false);
    };
  }, [dark]);

  useEffect(() => {
    if (ready) chart.current?.setOption(option, { notMerge: false, lazyUpdate: true });
  }, [option, ready]);

  return (
    <div className="chart" style={{ height }} role="img" aria-label={label}>
      {!ready && <Skeleton active paragraph={{ rows: 3 }} title={false} />}
      <div ref={box} style={{ height, display: ready ? "block" : "none" }} />
    </div>
  );
}
