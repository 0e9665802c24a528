import { Page } from "../../parts/Page";

export function WizardPage() {
  return <Page title="WizardPage">…</Page>;
}
