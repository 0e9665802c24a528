// The colours of statuses where no tag is drawn: strips, charts, the graph.
import type { StatusWord } from "./Status";

export type Outcome = StatusWord | "skipped";

const LIGHT: Record<Outcome, string> = {
  planned: "#8a6fc9",
  pending: "#d29b22",
  running: "#3f7fd6",
  success: "#3f9c5a",
  failed: "#c4372f",
  cancelled: "#8b929c",
  skipped: "#c3c8cf",
};
const DARK: Record<Outcome, string> = {
  planned: "#a78be0",
  pending: "#d9ae4d",
  running: "#6aa2ee",
  success: "#58b072",
  failed: "#ee6a62",
  cancelled: "#7d848e",
  skipped: "#4d535c",
};

export function outcomeColors(dark: boolean): Record<Outcome, string> {
  return dark ? DARK : LIGHT;
}
