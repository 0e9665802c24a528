// The list: few rows, so that all of them are there at once.
import { DeleteOutlined, EditOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Button, Table, Tag, Tooltip, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { DIALECTS } from "../operations/kinds";
import { Result } from "./Result";
import type { Source } from "./saving";
import type { Tests } from "./testing";

type Props = {
  sources: readonly Source[];
  tests: Tests;
  change: (next: Record<string, string | null>) => void;
  may: boolean;
};

export function SourceTable({ sources, tests, change, may }: Props) {
  const { t } = useTranslation("sources");
  // Those that live come first, so that one page has what works on all of them.
  const instances = useGet("/api/v1/instances", { query: { type: "operation", limit: 100 } }, { keep: true });
  const living = new Map<number, number>();
  for (const { data_source_id: id, end_time: ended } of instances.data?.items ?? []) {
    if (id !== null && ended === null) living.set(id, (living.get(id) ?? 0) + 1);
  }
  const columns: TableColumnsType<Source> = [
    {
      title: t("column.name"),
      dataIndex: "name",
      fixed: "start",
      width: 130,
      render: (name: string, source) => (
        <Button type="link" className="sources-name" onClick={() => change({ source: String(source.id) })}>
          {name}
        </Button>
      ),
    },
    {
      title: t("column.dialect"),
      dataIndex: "dialect",
      width: 110,
      render: (dialect: Source["dialect"]) => <Tag variant="filled">{DIALECTS[dialect]}</Tag>,
    },
    { title: t("column.host"), width: 160, render: (_, source) => hostOf(source) ?? <span className="dim">–</span> },
    { title: t("column.database"), dataIndex: "database", width: 160, className: "sources-path" },
    {
      title: t("column.user"),
      dataIndex: "username",
      width: 100,
      render: (user: string | null) => user ?? <span className="dim">–</span>,
    },
    {
      title: t("column.password"),
      dataIndex: "has_password",
      width: 80,
      render: (has: boolean) => (has ? t("sealed") : <span className="dim">{t("common:none")}</span>),
    },
    {
      title: t("column.now"),
      width: 90,
      render: (_, { id }) => {
        const count = living.get(id) ?? 0;
        if (count === 0) return <span className="dim">{t("idle")}</span>;
        return (
          <Link to="/instances" search={{ data_source_id: String(id) } as never}>
            {t("living", { count })}
          </Link>
        );
      },
    },
    {
      title: t("column.test"),
      width: 240,
      render: (_, { id }) => <Result outcome={tests.of(id)} />,
    },
    {
      title: <span className="sources-hidden">{t("column.actions")}</span>,
      width: may ? 130 : 80,
      align: "end",
      render: (_, { id, name }) => (
        <span className="sources-actions">
          <Button size="small" loading={tests.of(id).pending} onClick={() => void tests.run(id)}>
            {t("test")}
          </Button>
          {may && (
            <>
              <Tooltip title={t("common:edit")}>
                <Button
                  size="small"
                  icon={<EditOutlined />}
                  aria-label={t("editOne", { name })}
                  onClick={() => change({ edit: String(id) })}
                />
              </Tooltip>
              <Tooltip title={t("common:delete")}>
                <Button
                  size="small"
                  icon={<DeleteOutlined />}
                  aria-label={t("deleteOne", { name })}
                  onClick={() => change({ delete: String(id) })}
                />
              </Tooltip>
            </>
          )}
        </span>
      ),
    },
  ];
  return (
    <Table<Source>
      size="small"
      rowKey="id"
      columns={columns}
      dataSource={sources}
      pagination={false}
      scroll={{ x: 1190 }}
    />
  );
}

function hostOf({ host, port }: Source): string | null {
  if (host === null) return null;
  return port === null ? host : `${host}:${port}`;
}
