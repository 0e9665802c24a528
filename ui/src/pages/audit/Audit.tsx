import { Page } from "../../parts/Page";

export function AuditPage() {
  return <Page title="AuditPage">…</Page>;
}
