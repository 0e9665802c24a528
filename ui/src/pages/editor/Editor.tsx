// Writing a task: a new one, one like another, or a new version of one there is.
import { useParams } from "@tanstack/react-router";
import { Skeleton } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { Missing } from "../../shell/Missing";
import { idOf, useFilters } from "../../state/url";
import { browserZone } from "../../time/format";
import { afterOf, begun, copyOf, type Task } from "./draft";
import { Form } from "./Form";
import "./editor.css";

export function NewTaskPage() {
  const [{ copy, after, type, payload }] = useFilters();
  if (copy !== undefined) return <Loaded key={copy} id={Number(copy)} as="copy" />;
  if (after !== undefined) return <Loaded key={after} id={Number(after)} as="after" />;
  return <Form task={null} first={begun(browserZone(), type, payload)} />;
}

export function EditTaskPage() {
  const { id } = useParams({ strict: false });
  const number = idOf(id);
  return number === null ? <Missing /> : <Loaded key={number} id={number} as="edit" />;
}

/** Edited itself, or the beginning of a new one: like it, or to be run after it. */
function Loaded({ id, as }: { id: number; as: "edit" | "copy" | "after" }) {
  const { t } = useTranslation("editor");
  // Not fetched again: what is being edited must not change beneath the hands. Saving finds out (409).
  const asked = useGet("/api/v1/tasks/{task_id}", { path: { task_id: id } }, { every: false });
  const [task, setTask] = useState<Task | null>(null);
  if (task === null && asked.data !== undefined && !asked.isFetching) setTask(asked.data);
  const title = as === "edit" ? t("titleEdit") : t("titleNew");
  if (task === null) {
    return (
      <Page title={title}>
        {asked.error ? (
          <Refused refusal={asked.error} again={() => void asked.refetch()} />
        ) : (
          <Skeleton active paragraph={{ rows: 8 }} />
        )}
      </Page>
    );
  }
  if (as === "after") return <Form task={null} first={afterOf(task)} known={task} />;
  return as === "copy" ? (
    <Form task={null} first={copyOf(task)} copied={task} />
  ) : (
    <Form key={task.version} task={task} />
  );
}
