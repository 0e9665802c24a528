// All live sessions of browsers, and ending one.
import { Button, Popconfirm, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { usePaged } from "../../api/paged";
import type { components } from "../../api/schema";
import { Listing } from "../../parts/Listing";
import { Time } from "../../parts/Time";

type Session = components["schemas"]["Session"];

export function Sessions() {
  const { t } = useTranslation("access");
  const sessions = usePaged("/api/v1/sessions", { limit: 100 });
  const end = useAct(
    (one: Session) =>
      answer(client.DELETE("/api/v1/sessions/{session_id}", { params: { path: { session_id: one.id } } })),
    { refresh: ["/api/v1/sessions"], done: t("sessions.ended") },
  );
  const columns: TableColumnsType<Session> = [
    {
      key: "who",
      title: t("sessions.who"),
      render: (_, one) => (
        <>
          <strong>{one.name}</strong>{" "}
          <span className="dim">{one.token_id === null ? t("sessions.user") : t("sessions.token")}</span>
        </>
      ),
    },
    { key: "address", title: t("sessions.address"), width: 170, render: (_, one) => one.address ?? "–" },
    { key: "since", title: t("sessions.since"), width: 200, render: (_, one) => <Time at={one.created_at} /> },
    {
      key: "seen",
      title: t("sessions.seen"),
      width: 130,
      render: (_, one) => <Time at={one.last_seen_at} as="relative" />,
    },
    { key: "until", title: t("sessions.until"), width: 200, render: (_, one) => <Time at={one.expires_at} /> },
    {
      key: "acts",
      title: <span className="access-unseen">{t("acts")}</span>,
      width: 80,
      align: "right",
      render: (_, one) => (
        <Popconfirm
          title={t("sessions.endAsk", { name: one.name })}
          description={t("sessions.endDetail")}
          okText={t("sessions.end")}
          onConfirm={() => end.run(one)}
        >
          <Button size="small">{t("sessions.end")}</Button>
        </Popconfirm>
      ),
    },
  ];
  return (
    <>
      <div className="access-bar">
        <span className="dim">{t("sessions.about")}</span>
      </div>
      <Listing list={sessions} columns={columns} width={900} none={t("common:none")} />
    </>
  );
}
