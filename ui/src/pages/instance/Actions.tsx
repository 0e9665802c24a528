// What can be done about an instance: stop it, let it go, let it live again, take it back.
import { Link } from "@tanstack/react-router";
import { Button, Dropdown, Modal, Space } from "antd";
import { DownOutlined } from "@ant-design/icons";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";
import { Cancelling } from "../../parts/Cancelling";
import { useMay } from "../../state/session";
import { REFRESHED } from "./refreshed";
import { RetryForm, type TaskShape } from "./RetryForm";

type Instance = components["schemas"]["Instance"];

type Props = { instance: Instance; task: TaskShape | undefined; onRetried?: () => void };

export function Actions({ instance, task, onRetried }: Props) {
  const { t } = useTranslation("instance");
  const may = useMay("operator");
  const mayUndo = useMay("editor", { whole: true });
  const [open, setOpen] = useState<"cancel" | "retry" | null>(null);
  const path = { instance_id: instance.id };
  const dispatch = useAct(() => answer(client.POST("/api/v1/instances/{instance_id}/dispatch", { params: { path } })), {
    done: t("dispatched"),
    refresh: REFRESHED,
  });
  const retry = useAct(
    () =>
      answer(
        client.POST("/api/v1/instances/{instance_id}/retry", { params: { path }, body: { current_version: false } }),
      ),
    { done: t("retried"), refresh: REFRESHED, then: onRetried },
  );
  const ended = instance.end_time !== null;
  const retriable = (instance.status === "failed" || instance.status === "cancelled") && instance.skip_reason === null;
  const undo = undoOf(instance);

  return (
    <>
      {may && instance.blocked_by === "dispatch" && (
        <Button type="primary" loading={dispatch.pending} onClick={() => void dispatch.run()}>
          {t("dispatch")}
        </Button>
      )}
      {may && retriable && (
        <Space.Compact>
          <Button type="primary" loading={retry.pending} onClick={() => void retry.run()}>
            {t("retry")}
          </Button>
          {/* An operation does what was approved, and takes no arguments. */}
          {instance.operation_kind === null && (
            <Dropdown
              trigger={["click"]}
              menu={{
                items: [{ key: "changed", label: t("retryChanged") }],
                onClick: () => setOpen("retry"),
              }}
            >
              <Button type="primary" icon={<DownOutlined />} aria-label={t("retryMore")} />
            </Dropdown>
          )}
        </Space.Compact>
      )}
      {may && !ended && (
        <Button danger disabled={instance.cancel_requested} onClick={() => setOpen("cancel")}>
          {instance.cancel_requested ? t("cancelling") : t("cancel")}
        </Button>
      )}
      {mayUndo && undo !== null && (
        <Link to="/operations/$kind" params={{ kind: undo }} search={{ undo: String(instance.id) } as never}>
          <Button>{t("undo")}</Button>
        </Link>
      )}
      <Cancelling instance={instance} open={open === "cancel"} onClose={() => setOpen(null)} />
      <Modal
        open={open === "retry"}
        title={t("retryTitle", { id: instance.id })}
        footer={null}
        width={640}
        destroyOnHidden
        onCancel={() => setOpen(null)}
      >
        <RetryForm instance={instance} task={task} onClose={() => setOpen(null)} onRetried={onRetried} />
      </Modal>
    </>
  );
}

/** The kind of the operation that takes this one back, as its summary says. */
function undoOf(instance: Instance): string | null {
  const undo = instance.summary?.undo;
  if (instance.operation_kind === null || typeof undo !== "object" || undo === null) return null;
  const { kind } = undo as { kind?: unknown };
  return typeof kind === "string" ? kind : null;
}
