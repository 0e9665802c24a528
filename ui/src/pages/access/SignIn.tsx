import { Page } from "../../parts/Page";

export function SignInPage() {
  return <Page title="SignInPage">…</Page>;
}
