import { Page } from "../../parts/Page";

export function SourcesPage() {
  return <Page title="SourcesPage">…</Page>;
}
