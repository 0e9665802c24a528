// What the server knows of itself and of its store, to read; what is wrong comes first.
import { Alert, Button, Descriptions, Skeleton, Table, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { Refused } from "../../parts/Refused";
import { Length, Time } from "../../parts/Time";
import { worriesOf } from "./facts";

type Group = components["schemas"]["GroupFigures"];

export function Diagnosis() {
  const { t } = useTranslation("settings");
  const found = useGet("/api/v1/diagnosis", {}, { every: false });
  if (found.error) return <Refused refusal={found.error} again={() => void found.refetch()} />;
  if (found.data === undefined) return <Skeleton active title={false} paragraph={{ rows: 6 }} />;
  const { process, database, store } = found.data;
  const worries = worriesOf(found.data);
  const facts = [
    {
      key: "process",
      label: t("fact.process"),
      children: t("fact.processIs", { version: process.version, host: process.hostname, python: process.python }),
    },
    { key: "database", label: t("fact.database"), children: `${database.dialect} ${database.version}` },
    {
      key: "reached",
      label: t("fact.reached"),
      children: process.loopback ? t("fact.loopback") : process.proxies ? t("fact.proxies") : t("fact.network"),
    },
    { key: "cycle", label: t("fact.cycle"), children: <Seconds value={store.cycle_seconds} ago /> },
    { key: "lease", label: t("fact.lease"), children: <Length ms={process.lease_seconds * 1000} /> },
    { key: "kept", label: t("fact.kept"), children: t("fact.days", { count: process.retention_days }) },
    { key: "oldest", label: t("fact.oldest"), children: <Time at={store.oldest_log} seconds={false} /> },
    {
      key: "audit",
      label: t("fact.audit"),
      children: t("fact.auditIs", { sealed: store.audit_sealed ?? 0, unsealed: store.audit_unsealed ?? 0 }),
    },
    { key: "key", label: t("fact.key"), children: t(`key.${process.key}`, { count: store.secrets ?? 0 }) },
    { key: "files", label: t("fact.files"), children: <span className="number">{process.open_files}</span> },
  ];
  const figure = (name: keyof Group): TableColumnsType<Group>[number] => ({
    key: name,
    title: t(`figure.${name}`),
    align: "right",
    width: 96,
    render: (_, group) => <span className="number">{group[name] ?? 0}</span>,
  });
  const columns: TableColumnsType<Group> = [
    { key: "group", title: t("figure.group"), dataIndex: "group" },
    figure("executors"),
    {
      key: "slots",
      title: t("figure.slots"),
      align: "right",
      width: 110,
      render: (_, group) => <span className="number">{`${group.slots_used ?? 0} / ${group.slots ?? 0}`}</span>,
    },
    figure("running"),
    figure("due"),
    figure("later"),
    figure("planned"),
    {
      key: "oldest",
      title: t("figure.oldest"),
      align: "right",
      width: 120,
      render: (_, group) => <Seconds value={group.oldest_due_seconds} />,
    },
  ];
  return (
    <>
      {worries.length === 0 ? (
        <Alert type="success" showIcon title={t("diagnosis.well")} />
      ) : (
        worries.map(({ key, grave, text, holes }) => (
          <Alert key={key} type={grave ? "error" : "warning"} showIcon title={t(text, holes)} />
        ))
      )}
      <Descriptions size="small" className="settings-facts" column={{ xs: 1, md: 2 }} items={facts} />
      <Table<Group>
        size="small"
        rowKey="group"
        columns={columns}
        dataSource={[...(store.groups ?? [])]}
        pagination={false}
        scroll={{ x: 820 }}
      />
      <p className="settings-acts dim">
        <Button size="small" loading={found.isFetching} onClick={() => void found.refetch()}>
          {t("diagnosis.again")}
        </Button>
        <span>
          <Time at={store.looked_at} /> · {t("diagnosis.more")} <code>hourhand doctor</code>
        </span>
      </p>
    </>
  );
}

function Seconds({ value, ago = false }: { value: number | null | undefined; ago?: boolean }) {
  const { t } = useTranslation("settings");
  if (value === null || value === undefined || (value === 0 && !ago)) return <span className="dim">–</span>;
  return (
    <span>
      <Length ms={value * 1_000} /> {ago && t("fact.ago")}
    </span>
  );
}
