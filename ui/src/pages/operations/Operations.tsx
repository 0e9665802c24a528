import { Page } from "../../parts/Page";

export function OperationsPage() {
  return <Page title="OperationsPage">…</Page>;
}
