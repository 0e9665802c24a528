// Who leaves with something unsaved is asked first.
import { useBlocker } from "@tanstack/react-router";
import { Modal } from "antd";
import type { RefObject } from "react";
import { useTranslation } from "react-i18next";

export function Leaving({ dirty, saved }: { dirty: boolean; saved: RefObject<boolean> }) {
  const { t } = useTranslation("editor");
  const blocker = useBlocker({
    shouldBlockFn: ({ current, next }) => dirty && !saved.current && current.pathname !== next.pathname,
    enableBeforeUnload: () => dirty && !saved.current,
    withResolver: true,
  });
  return (
    <Modal
      open={blocker.status === "blocked"}
      title={t("leave.title")}
      okText={t("leave.discard")}
      okButtonProps={{ danger: true }}
      cancelText={t("leave.stay")}
      onOk={() => blocker.proceed?.()}
      onCancel={() => blocker.reset?.()}
    >
      {t("leave.detail")}
    </Modal>
  );
}
