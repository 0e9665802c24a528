// One task: how it stands, what it did, what it is, and what was done to it.
import { Link, useParams } from "@tanstack/react-router";
import { Skeleton, Tabs, Tag } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Page } from "../../parts/Page";
import { pausesOf, type Pause } from "../../parts/pausing";
import { Refused } from "../../parts/Refused";
import { Missing } from "../../shell/Missing";
import { idOf, useFilters } from "../../state/url";
import { State } from "../tasks/State";
import { TABS, tabOf, type Tab, type Task } from "./about";
import { Actions } from "./Actions";
import { AuditTab } from "./AuditTab";
import { Definition } from "./Definition";
import { Dependencies } from "./Dependencies";
import { Notices } from "./Notices";
import { Recent } from "./Recent";
import { Trend } from "./Trend";
import { Upcoming } from "./Upcoming";
import { Versions } from "./Versions";
import "./task.css";

export function TaskPage() {
  const { id } = useParams({ strict: false });
  const number = idOf(id);
  return number === null ? <Missing /> : <Numbered id={number} />;
}

function Numbered({ id }: { id: number }) {
  const { t } = useTranslation("task");
  const read = useGet("/api/v1/tasks/{task_id}", { path: { task_id: id } });
  const pauses = useGet("/api/v1/pauses").data?.items ?? [];
  if (read.data)
    return <Known key={read.data.id} task={read.data} pauses={pausesOf(read.data, pauses)} refusal={read.error} />;
  return (
    <Page title={t("title", { id })}>
      {read.error ? (
        <Refused refusal={read.error} again={() => void read.refetch()} />
      ) : (
        <Skeleton active paragraph={{ rows: 8 }} />
      )}
    </Page>
  );
}

type Props = { task: Task; pauses: Pause[]; refusal: Parameters<typeof Refused>[0]["refusal"] };

function Known({ task, pauses, refusal }: Props) {
  const { t } = useTranslation("task");
  const [filters, change] = useFilters();
  const tab = tabOf(filters.tab);
  return (
    <Page
      title={task.name}
      mark={<State task={task} pauses={pauses} />}
      about={<About task={task} />}
      actions={<Actions task={task} pauses={pauses} />}
    >
      <Refused refusal={refusal} />
      <Notices task={task} pauses={pauses} />
      <Tabs
        activeKey={tab}
        onChange={(next) => change({ tab: next === "overview" ? null : next, version: null, against: null })}
        items={TABS.map((key) => ({ key, label: t(`tab.${key}`) }))}
      />
      <Content tab={tab} task={task} />
    </Page>
  );
}

function About({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  return (
    <>
      {task.description && <div className="task-description">{task.description}</div>}
      <div className="task-facts">
        <span>{t(`tasks:type.${task.type}`)}</span>
        <span>
          {t("group")}{" "}
          <Link to="/tasks" search={{ group: task.group } as never}>
            {task.group}
          </Link>
        </span>
        {task.owner && (
          <span>
            {t("owner")}{" "}
            <Link to="/tasks" search={{ owner: task.owner } as never}>
              {task.owner}
            </Link>
          </span>
        )}
        <span>
          {t("zone")} {task.timezone}
        </span>
        <span>{t("version", { version: task.version, by: task.updated_by })}</span>
        {task.tags.map((tag) => (
          <Link key={tag} to="/tasks" search={{ tag } as never}>
            <Tag variant="filled">{tag}</Tag>
          </Link>
        ))}
      </div>
    </>
  );
}

function Content({ tab, task }: { tab: Tab; task: Task }) {
  const { t } = useTranslation("task");
  switch (tab) {
    case "overview":
      return <Overview task={task} />;
    case "instances":
      return <Recent task={task} limit={50} title={t("tab.instances")} whole />;
    case "definition":
      return <Definition task={task} />;
    case "dependencies":
      return <Dependencies task={task} />;
    case "versions":
      return <Versions task={task} />;
    case "audit":
      return <AuditTab task={task} />;
  }
}

function Overview({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const stats = useGet("/api/v1/stats/tasks", { query: { ids: String(task.id), last: 100 } });
  const one = stats.data?.items[0];
  return (
    <div className="task-overview">
      <div>
        <Refused refusal={stats.error} again={() => void stats.refetch()} />
        {one ? <Trend task={task} stats={one} /> : stats.isPending && <Skeleton active />}
        <Recent task={task} limit={12} title={t("recent")} />
      </div>
      <div>
        <Upcoming task={task} />
        <Recent task={task} status="failed" limit={5} title={t("failures")} />
      </div>
    </div>
  );
}
