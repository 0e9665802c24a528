import { Page } from "../../parts/Page";

export function NewTaskPage() {
  return <Page title="NewTaskPage">…</Page>;
}

export function EditTaskPage() {
  return <Page title="EditTaskPage">…</Page>;
}
