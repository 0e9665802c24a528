// The same as a table: for who cannot see the drawing, or would rather read.
import { Link } from "@tanstack/react-router";
import { Button, Table, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { Status } from "../../parts/Status";
import { Time } from "../../parts/Time";
import type { Node, Shown } from "./shown";

type Row = Node & { before: Node[]; after: Node[] };

export function List({ shown, choose }: { shown: Shown; choose: (id: number) => void }) {
  const { t } = useTranslation("graph");
  const nodes = new Map(shown.nodes.map((node) => [node.id, node]));
  const named = (ids: number[]) => ids.map((id) => nodes.get(id)).filter((node) => node !== undefined);
  const before = new Map<number, number[]>(shown.nodes.map((node) => [node.id, []]));
  const after = new Map<number, number[]>(shown.nodes.map((node) => [node.id, []]));
  for (const edge of shown.edges) {
    before.get(edge.task_id)?.push(edge.depends_on_id);
    after.get(edge.depends_on_id)?.push(edge.task_id);
  }
  const rows: Row[] = shown.nodes.map((node) => ({
    ...node,
    before: named(before.get(node.id) ?? []),
    after: named(after.get(node.id) ?? []),
  }));
  const names = (others: Node[]) =>
    others.map((other, number) => (
      <span key={other.id}>
        {number > 0 && ", "}
        <Link to="/tasks/$id" params={{ id: String(other.id) }}>
          {other.name}
        </Link>
      </span>
    ));
  const columns: TableColumnsType<Row> = [
    {
      title: t("column.task"),
      width: 220,
      ellipsis: true,
      render: (_, row) => (
        <Button type="link" size="small" className="graph-go" onClick={() => choose(row.id)}>
          {row.name}
        </Button>
      ),
    },
    {
      title: t("column.state"),
      width: 190,
      render: (_, row) => (
        <>
          {row.running ? <Status status="running" /> : row.last_outcome && <Status status={row.last_outcome} />}{" "}
          {row.waiting > 0 && <span className="dim">{t("state.waiting", { count: row.waiting })} </span>}
          {row.paused && <span className="dim">{t("paused")} </span>}
          {!row.enabled && <span className="dim">{t("off")}</span>}
        </>
      ),
    },
    { title: t("column.last"), width: 110, render: (_, row) => <Time at={row.last_time} as="relative" /> },
    { title: t("column.before"), width: 240, ellipsis: true, render: (_, row) => names(row.before) },
    { title: t("column.after"), width: 240, ellipsis: true, render: (_, row) => names(row.after) },
    { title: t("column.group"), width: 120, ellipsis: true, dataIndex: "group" },
  ];
  return (
    <Table<Row>
      virtual
      size="small"
      rowKey="id"
      columns={columns}
      dataSource={rows}
      pagination={false}
      scroll={{ x: 1_120, y: Math.min(620, Math.max(120, rows.length * 36)) }}
    />
  );
}
