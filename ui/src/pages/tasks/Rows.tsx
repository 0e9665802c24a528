// The tasks as a table.
import { Table, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { pausesOf, type Pause } from "../../parts/pausing";
import { Length } from "../../parts/Time";
import { Alive, Name, Next, When, Whose, type Task } from "./cells";
import { Fared } from "./Fared";
import type { Lately } from "./lately";
import { RowActions } from "./RowActions";

export type ListingProps = {
  tasks: readonly Task[];
  lately: Lately;
  pauses: readonly Pause[];
  onRun: (task: Task) => void;
  onPause: (task: Task) => void;
};

export function Rows({ tasks, lately, pauses, onRun, onPause }: ListingProps) {
  const { t } = useTranslation("tasks");
  const columns: TableColumnsType<Task> = [
    { key: "name", title: t("column.task"), width: 230, render: (_, task) => <Name task={task} /> },
    { key: "schedule", title: t("column.schedule"), width: 210, render: (_, task) => <When task={task} /> },
    {
      key: "next",
      title: t("column.next"),
      width: 185,
      render: (_, task) => <Next task={task} pauses={pausesOf(task, pauses)} />,
    },
    {
      key: "last",
      title: t("column.last"),
      width: 226,
      render: (_, task) => <Fared stats={lately.get(task.id)} zone={task.timezone} />,
    },
    {
      key: "median",
      title: t("column.median"),
      width: 96,
      align: "end",
      render: (_, task) => (
        <div className="tasks-two">
          <Length ms={lately.get(task.id)?.median_ms} />
          <Alive task={task} stats={lately.get(task.id)} />
        </div>
      ),
    },
    { key: "owner", title: t("column.owner"), width: 130, render: (_, task) => <Whose task={task} /> },
    {
      key: "actions",
      title: <span className="tasks-hidden">{t("column.actions")}</span>,
      width: 92,
      fixed: "end",
      render: (_, task) => (
        <RowActions
          task={task}
          pauses={pausesOf(task, pauses)}
          onRun={() => onRun(task)}
          onPause={() => onPause(task)}
        />
      ),
    },
  ];
  return (
    <Table
      size="small"
      rowKey="id"
      columns={columns}
      dataSource={tasks}
      pagination={false}
      scroll={{ x: 1100 }}
      rowClassName={(task) => (task.enabled ? "" : "tasks-off")}
    />
  );
}
