import { Page } from "../../parts/Page";

export function InstancePage() {
  return <Page title="InstancePage">…</Page>;
}
