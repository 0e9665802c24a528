// How a task fared lately; a place is kept for figures that are on their way, since "none" would be wrong.
import { Skeleton } from "antd";

import { Strip } from "../../parts/Strip";
import type { Stats } from "./lately";

export function Fared({ stats, zone }: { stats: Stats | null | undefined; zone: string }) {
  if (stats === undefined) return <Skeleton.Node active className="tasks-waiting" />;
  return stats === null ? <span className="dim">–</span> : <Strip endings={stats.endings} zone={zone} />;
}
