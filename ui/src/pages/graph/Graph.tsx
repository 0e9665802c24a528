import { Page } from "../../parts/Page";

export function GraphPage() {
  return <Page title="GraphPage">…</Page>;
}
