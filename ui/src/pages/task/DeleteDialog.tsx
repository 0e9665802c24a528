// Delete a task: who needs it is named before, not after.
import { Alert, Checkbox, Modal } from "antd";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { useGet } from "../../api/queries";
import { Refused } from "../../parts/Refused";
import type { Task } from "./about";

export function DeleteDialog({ task, onClose }: { task: Task; onClose: () => void }) {
  const { t } = useTranslation("task");
  const navigate = useNavigate();
  const [force, setForce] = useState(false);
  const graph = useGet("/api/v1/tasks/graph", { query: { task_id: task.id } }, { every: false });
  const ids = new Set(
    (graph.data?.edges ?? []).filter((edge) => edge.depends_on_id === task.id).map((edge) => edge.task_id),
  );
  const dependents = (graph.data?.nodes ?? []).filter((node) => ids.has(node.id)).map((node) => node.name);
  const act = useAct(
    () =>
      answer(client.DELETE("/api/v1/tasks/{task_id}", { params: { path: { task_id: task.id }, query: { force } } })),
    {
      done: t("deleted", { name: task.name }),
      quiet: true,
      then: () => void navigate({ to: "/tasks" }),
    },
  );
  const needed = dependents.length > 0 || act.refusal?.status === 409;
  return (
    <Modal
      open
      title={t("deleteTitle", { name: task.name })}
      onCancel={onClose}
      onOk={() => void act.run()}
      okText={t("deleteIt")}
      cancelText={t("common:cancel")}
      okButtonProps={{ danger: true, loading: act.pending, disabled: graph.isPending || (needed && !force) }}
    >
      <p>{t("deleteAbout")}</p>
      {dependents.length > 0 && (
        <Alert
          type="warning"
          showIcon
          title={t("dependents", { count: dependents.length })}
          description={dependents.join(", ")}
        />
      )}
      <Refused refusal={act.refusal} />
      {needed && (
        <Checkbox checked={force} onChange={(event) => setForce(event.target.checked)} className="task-force">
          {t("force")}
        </Checkbox>
      )}
    </Modal>
  );
}
