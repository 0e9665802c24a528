import { Page } from "../../parts/Page";

export function TasksPage() {
  return <Page title="TasksPage">…</Page>;
}
