import { Page } from "../../parts/Page";

export function TimelinePage() {
  return <Page title="TimelinePage">…</Page>;
}
