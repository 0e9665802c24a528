import { Page } from "../../parts/Page";

export function ExecutorsPage() {
  return <Page title="ExecutorsPage">…</Page>;
}
