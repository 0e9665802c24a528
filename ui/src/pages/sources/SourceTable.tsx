// The list: few rows, so that all of them are there at once; cards where the window is narrow.
import { Link } from "@tanstack/react-router";
import { Button, Grid, Table, Tag, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { DIALECTS } from "../operations/kinds";
import { Result } from "./Result";
import { RowActions } from "./RowActions";
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
  const { md = true } = Grid.useBreakpoint();
  // Those that live come first, so that one page has what works on all of them.
  const instances = useGet("/api/v1/instances", { query: { type: "operation", limit: 100 } }, { keep: true });
  const living = new Map<number, number>();
  for (const { data_source_id: id, end_time: ended } of instances.data?.items ?? []) {
    if (id !== null && ended === null) living.set(id, (living.get(id) ?? 0) + 1);
  }
  const name = (source: Source) => (
    <Button type="link" className="sources-name" onClick={() => change({ source: String(source.id) })}>
      {source.name}
    </Button>
  );
  const now = ({ id }: Source) => {
    const count = living.get(id) ?? 0;
    if (count === 0) return <span className="dim">{t("idle")}</span>;
    return (
      <Link to="/instances" search={{ data_source_id: String(id) } as never}>
        {t("living", { count })}
      </Link>
    );
  };
  const actions = (source: Source) => <RowActions source={source} tests={tests} change={change} may={may} />;

  if (!md) {
    return (
      <ul className="sources-cards">
        {sources.map((source) => (
          <li key={source.id} className="sources-card">
            <div className="sources-card-head">
              {name(source)}
              <Tag variant="filled">{DIALECTS[source.dialect]}</Tag>
              {actions(source)}
            </div>
            <div className="mono sources-path">{source.url}</div>
            <div>
              {t("column.password")}: {source.has_password ? t("sealed") : t("common:none")} · {now(source)}
            </div>
            <Result outcome={tests.of(source.id)} />
          </li>
        ))}
      </ul>
    );
  }
  const dash = <span className="dim">–</span>;
  const columns: TableColumnsType<Source> = [
    { title: t("column.name"), width: 140, render: (_, source) => name(source) },
    {
      title: t("column.dialect"),
      dataIndex: "dialect",
      width: 110,
      render: (dialect: Source["dialect"]) => <Tag variant="filled">{DIALECTS[dialect]}</Tag>,
    },
    { title: t("column.host"), width: 160, render: (_, source) => hostOf(source) ?? dash },
    { title: t("column.database"), dataIndex: "database", width: 160, className: "sources-path" },
    {
      title: t("column.user"),
      dataIndex: "username",
      width: 100,
      render: (user: string | null) => user ?? dash,
    },
    {
      title: t("column.password"),
      dataIndex: "has_password",
      width: 80,
      render: (has: boolean) => (has ? t("sealed") : <span className="dim">{t("common:none")}</span>),
    },
    { title: t("column.now"), width: 90, render: (_, source) => now(source) },
    { title: t("column.test"), width: 230, render: (_, { id }) => <Result outcome={tests.of(id)} /> },
    {
      title: <span className="sources-hidden">{t("column.actions")}</span>,
      width: may ? 130 : 80,
      align: "end",
      render: (_, source) => actions(source),
    },
  ];
  return (
    <Table<Source>
      size="small"
      rowKey="id"
      columns={columns}
      dataSource={sources}
      pagination={false}
      scroll={{ x: 1180 }}
    />
  );
}

function hostOf({ host, port }: Source): string | null {
  if (host === null) return null;
  return port === null ? host : `${host}:${port}`;
}
