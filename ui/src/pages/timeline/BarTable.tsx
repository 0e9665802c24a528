// The same as a table: for who cannot see the drawing, or goes by keys.
import { Link } from "@tanstack/react-router";
import { Table, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { Status } from "../../parts/Status";
import { Length, Time } from "../../parts/Time";
import type { Bar } from "./rows";

export function BarTable({ bars }: { bars: readonly Bar[] }) {
  const { t } = useTranslation("timeline");
  const columns: TableColumnsType<Bar> = [
    {
      title: t("column.instance"),
      width: 100,
      render: (_, bar) => (
        <Link to="/instances/$id" params={{ id: String(bar.instance_id) }}>
          #{bar.instance_id}
        </Link>
      ),
    },
    {
      title: t("column.task"),
      width: 240,
      ellipsis: true,
      render: (_, bar) => (
        <Link to="/tasks/$id" params={{ id: String(bar.task_id) }}>
          {bar.task_name}
        </Link>
      ),
    },
    { title: t("column.status"), width: 110, render: (_, bar) => <Status status={bar.status} /> },
    { title: t("column.started"), width: 210, render: (_, bar) => <Time at={bar.start_time} /> },
    {
      title: t("column.took"),
      width: 110,
      align: "end",
      render: (_, bar) => <Length from={bar.start_time} to={bar.end_time} />,
    },
    { title: t("column.attempt"), width: 80, align: "end", dataIndex: "attempt" },
    { title: t("column.executor"), width: 240, ellipsis: true, dataIndex: "executor_id" },
  ];
  return (
    <Table<Bar>
      virtual
      size="small"
      rowKey={(bar) => `${bar.instance_id} ${bar.attempt} ${bar.start_time}`}
      columns={columns}
      dataSource={[...bars]}
      pagination={false}
      scroll={{ x: 1_090, y: 560 }}
    />
  );
}
