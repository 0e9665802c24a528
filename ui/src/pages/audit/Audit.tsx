// Who changed what, newest first.
import { Button, Table, Tag, type TableColumnsType } from "antd";
import { useEffect } from "react";
import { useTranslation } from "react-i18next";

import { usePaged } from "../../api/paged";
import type { components } from "../../api/schema";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { Time } from "../../parts/Time";
import { useFilters } from "../../state/url";
import "./audit.css";
import { Chain } from "./Chain";
import { Entry } from "./Entry";
import { AuditFilters } from "./Filters";
import { Thing } from "./Thing";
import { wantedOf } from "./things";

type AuditLog = components["schemas"]["AuditLog"];
const LIMIT = 50;

export function AuditPage() {
  const { t } = useTranslation("audit");
  const [filters, change] = useFilters();
  const wanted = wantedOf(filters);
  const found = usePaged("/api/v1/audit-logs", { ...wanted, limit: LIMIT });
  const { items, more, fetching, next } = found;
  // A page may be short, or empty, and not be the last: what is asked for is rare. Go on until a screen is full.
  const short = more && !fetching && found.refusal === null && items.length < LIMIT / 2;
  useEffect(() => {
    if (short) next();
  }, [short, next]);

  const columns: TableColumnsType<AuditLog> = [
    { key: "at", title: t("when"), width: 190, render: (_, entry) => <Time at={entry.occurred_at} /> },
    {
      key: "who",
      title: t("who"),
      width: 180,
      ellipsis: true,
      render: (_, entry) => (
        <Button
          type="link"
          className="audit-inline"
          title={t("onlyWho", { id: entry.user_id })}
          onClick={() => change({ who: entry.user_id, entry: null })}
        >
          {entry.user_name || entry.user_id}
        </Button>
      ),
    },
    {
      key: "what",
      title: t("what"),
      width: 150,
      render: (_, entry) => (
        <Button type="link" className="audit-inline" onClick={() => change({ entry: String(entry.id) })}>
          {t(`action.${entry.action}`, { defaultValue: entry.action })}
        </Button>
      ),
    },
    { key: "thing", title: t("thing"), width: 200, ellipsis: true, render: (_, entry) => <Thing entry={entry} /> },
    {
      key: "summary",
      title: t("summary"),
      ellipsis: true,
      render: (_, entry) => entry.summary ?? <span className="dim">–</span>,
    },
    {
      key: "result",
      title: t("result.label"),
      width: 96,
      render: (_, entry) => (
        <Tag variant="filled" color={entry.result === "done" ? "default" : "red"}>
          {t(`result.${entry.result}`, { defaultValue: entry.result })}
        </Tag>
      ),
    },
  ];
  const open = items.find((entry) => String(entry.id) === filters.entry);

  return (
    <Page title={t("title")} about={t("about")} actions={<Chain />}>
      <AuditFilters seen={items} />
      <Refused refusal={found.refusal} again={found.again} />
      <Table<AuditLog>
        className="cards"
        size="small"
        rowKey="id"
        columns={columns}
        dataSource={items}
        loading={found.first}
        pagination={false}
        scroll={{ x: 940 }}
        locale={{ emptyText: more ? t("looking") : t("none") }}
        rowClassName={(entry) => (String(entry.id) === filters.entry ? "audit-open" : "")}
      />
      {more && (
        <div className="audit-more">
          <Button onClick={next} loading={fetching}>
            {t("further")}
          </Button>
        </div>
      )}
      <Entry entry={open} onClose={() => change({ entry: null })} />
    </Page>
  );
}
