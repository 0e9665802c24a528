import { Page } from "../../parts/Page";

export function SettingsPage() {
  return <Page title="SettingsPage">…</Page>;
}
