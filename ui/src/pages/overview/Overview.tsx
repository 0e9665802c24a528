import { Page } from "../../parts/Page";

export function OverviewPage() {
  return <Page title="OverviewPage">…</Page>;
}
