import { Page } from "../../parts/Page";

export function PausesPage() {
  return <Page title="PausesPage">…</Page>;
}
