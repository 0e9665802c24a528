// Asking before an instance is cancelled: what that does to it, and why it is done.
import { Input, Modal } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../api/actions";
import { answer, client } from "../api/client";
import type { components } from "../api/schema";
import { focusOn } from "./focus";
import { Refused } from "./Refused";

type Props = {
  instance: Pick<components["schemas"]["Instance"], "id" | "status">;
  open: boolean;
  onClose: () => void;
};

export function Cancelling({ instance, open, onClose }: Props) {
  const { t } = useTranslation("instance");
  const [reason, setReason] = useState("");
  const cancel = useAct(
    (why: string) =>
      answer(
        client.POST("/api/v1/instances/{instance_id}/cancel", {
          params: { path: { instance_id: instance.id } },
          body: { reason: why === "" ? null : why },
        }),
      ),
    { done: t("cancelled"), refresh: ["/api/v1/instances", "/api/v1/stats"], quiet: true, then: onClose },
  );
  const submit = () => {
    if (!cancel.pending) void cancel.run(reason.trim());
  };
  // The next one that is asked about is another, with a reason of its own.
  const forget = () => {
    setReason("");
    cancel.forget();
  };
  return (
    <Modal
      open={open}
      title={t("cancelTitle", { id: instance.id })}
      okText={t("cancelIt")}
      cancelText={t("common:close")}
      okButtonProps={{ danger: true, loading: cancel.pending }}
      destroyOnHidden
      afterOpenChange={focusOn("cancel-reason")}
      afterClose={forget}
      onOk={submit}
      onCancel={onClose}
    >
      <p>{instance.status === "running" ? t("cancelRunning") : t("cancelWaiting")}</p>
      <Input
        id="cancel-reason"
        value={reason}
        maxLength={1000}
        placeholder={t("cancelWhy")}
        aria-label={t("common:reason")}
        onChange={(event) => setReason(event.target.value)}
        onPressEnter={({ nativeEvent }) => {
          if (!nativeEvent.isComposing) submit(); // else Enter ends what an input method composes
        }}
      />
      <Refused refusal={cancel.refusal} />
    </Modal>
  );
}
