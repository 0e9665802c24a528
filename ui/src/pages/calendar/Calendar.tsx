import { Page } from "../../parts/Page";

export function CalendarPage() {
  return <Page title="CalendarPage">…</Page>;
}
