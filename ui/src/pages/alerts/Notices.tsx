// What was told, to whom, and whether it arrived.
import { Tag, Tooltip, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { usePaged } from "../../api/paged";
import type { components } from "../../api/schema";
import { Listing } from "../../parts/Listing";
import { Time } from "../../parts/Time";
import { deliveryOf, type Delivery } from "./delivery";

type Notice = components["schemas"]["NoticeOutput"];
const COLORS: Record<Delivery, string> = { sent: "green", failing: "orange", givenUp: "red", waiting: "blue" };
const KINDS: Record<string, string> = { firing: "red", reminder: "orange", recovered: "green" };

export function Notices() {
  const { t } = useTranslation("alerts");
  const notices = usePaged("/api/v1/alerts", { limit: 50 });
  const columns: TableColumnsType<Notice> = [
    { key: "at", title: t("told.at"), width: 190, render: (_, one) => <Time at={one.created_at} /> },
    {
      key: "kind",
      title: t("told.kind"),
      width: 96,
      render: (_, one) => (
        <Tag variant="filled" color={KINDS[one.kind] ?? "default"}>
          {t(`kind.${one.kind}`, { defaultValue: one.kind })}
        </Tag>
      ),
    },
    {
      key: "text",
      title: t("told.text"),
      render: (_, one) => (
        <details className="alerts-text">
          <summary>{one.title}</summary>
          <div className="lines mono">{one.text}</div>
        </details>
      ),
    },
    {
      key: "target",
      title: t("target"),
      width: 230,
      ellipsis: true,
      render: (_, one) => one.target ?? <span className="dim">{t("told.gone")}</span>,
    },
    {
      key: "state",
      title: t("told.state"),
      width: 240,
      render: (_, one) => <State notice={one} />,
    },
  ];
  return <Listing list={notices} columns={columns} width={1020} none={t("told.none")} />;
}

function State({ notice }: { notice: Notice }) {
  const { t } = useTranslation("alerts");
  const state = deliveryOf(notice);
  return (
    <div>
      <Tag variant="filled" color={COLORS[state]}>
        {t(`state.${state}`, { count: notice.tries })}
      </Tag>
      {state === "sent" && <Time at={notice.sent_at} as="clock" />}
      {state === "failing" && <Time at={notice.next_try_at} as="relative" />}
      {state !== "sent" && notice.last_error !== null && (
        <Tooltip title={notice.last_error}>
          <div className="alerts-error">{notice.last_error}</div>
        </Tooltip>
      )}
    </div>
  );
}
