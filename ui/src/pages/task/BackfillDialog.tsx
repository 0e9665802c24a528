// Make up for instants that were never made: a range, by the task's own clock.
import { Alert, Form, Modal } from "antd";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { LocalTime } from "../../parts/LocalTime";
import { Refused } from "../../parts/Refused";
import type { Task } from "./about";

export function BackfillDialog({ task, onClose }: { task: Task; onClose: () => void }) {
  const { t } = useTranslation("task");
  const [from, setFrom] = useState<string | null>(null);
  const [to, setTo] = useState<string | null>(null);
  const [made, setMade] = useState<number | null>(null);
  const act = useAct(
    (range: { from: string; to: string }) =>
      answer(client.POST("/api/v1/tasks/{task_id}/backfill", { params: { path: { task_id: task.id } }, body: range })),
    { quiet: true, refresh: ["/api/v1/instances", "/api/v1/stats"], then: (output) => setMade(output.made) },
  );
  const turned = from !== null && to !== null && Date.parse(from) > Date.parse(to);
  const ready = from !== null && to !== null && !turned;
  return (
    <Modal
      open
      title={t("backfillTitle", { name: task.name })}
      onCancel={onClose}
      okText={made === null ? t("backfill") : t("common:close")}
      cancelText={t("common:cancel")}
      footer={(_, { OkBtn, CancelBtn }) => (
        <>
          {made === null && <CancelBtn />}
          <OkBtn />
        </>
      )}
      okButtonProps={{ disabled: made === null && !ready, loading: act.pending }}
      onOk={() => {
        if (made !== null) onClose();
        else if (ready) void act.run({ from, to });
      }}
    >
      <p className="dim">{t("backfillAbout")}</p>
      <Form layout="vertical">
        <Form.Item label={t("from")} htmlFor="backfill-from">
          <LocalTime id="backfill-from" zone={task.timezone} value={from} onChange={setFrom} />
        </Form.Item>
        <Form.Item
          label={t("to")}
          htmlFor="backfill-to"
          validateStatus={turned ? "error" : ""}
          help={turned ? t("turned") : undefined}
        >
          <LocalTime id="backfill-to" zone={task.timezone} value={to} onChange={setTo} />
        </Form.Item>
      </Form>
      {made !== null && (
        <Alert
          type={made > 0 ? "success" : "info"}
          showIcon
          title={made > 0 ? t("backfilled", { count: made }) : t("backfilledNone")}
          description={
            made > 0 && (
              <Link to="/instances" search={{ task_id: String(task.id), triggered_by: "backfill" } as never}>
                {t("backfilledLink")}
              </Link>
            )
          }
        />
      )}
      <Refused refusal={act.refusal} />
    </Modal>
  );
}
