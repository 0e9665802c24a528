import { Page } from "../../parts/Page";

export function InstancesPage() {
  return <Page title="InstancesPage">…</Page>;
}
