import { Page } from "../../parts/Page";

export function AlertsPage() {
  return <Page title="AlertsPage">…</Page>;
}
