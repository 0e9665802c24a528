// How an instance stands: a mark, a word and a colour, so that none of them is needed alone.
import {
  CheckCircleFilled,
  ClockCircleOutlined,
  CloseCircleFilled,
  MinusCircleOutlined,
  PauseCircleOutlined,
  StopOutlined,
  SyncOutlined,
} from "@ant-design/icons";
import { Tag } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { components } from "../api/schema";

export type StatusWord = components["schemas"]["Status"];

const MARKS: Record<StatusWord, { color: string; icon: ReactNode }> = {
  planned: { color: "purple", icon: <PauseCircleOutlined /> },
  pending: { color: "gold", icon: <ClockCircleOutlined /> },
  running: { color: "blue", icon: <SyncOutlined /> },
  success: { color: "green", icon: <CheckCircleFilled /> },
  failed: { color: "red", icon: <CloseCircleFilled /> },
  cancelled: { color: "default", icon: <StopOutlined /> },
};
const SKIPPED = { color: "default", icon: <MinusCircleOutlined /> };

/** `skipped`: an instant that was never made is stored as cancelled, with the reason. */
export function Status({ status, skipped }: { status: StatusWord; skipped?: string | null }) {
  const { t } = useTranslation("common");
  const mark = skipped ? SKIPPED : MARKS[status];
  return (
    <Tag
      variant="filled"
      color={mark.color}
      icon={mark.icon}
      className={`status status-${skipped ? "skipped" : status}`}
    >
      {skipped ? t("status.skipped") : t(`status.${status}`)}
    </Tag>
  );
}
