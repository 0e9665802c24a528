import { Page } from "../../parts/Page";

export function AccessPage() {
  return <Page title="AccessPage">…</Page>;
}
