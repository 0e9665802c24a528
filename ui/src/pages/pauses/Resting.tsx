// The pauses in force: what rests, why, because of whom, and until when.
import { Button, Dropdown, Popconfirm, Skeleton, Table } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { labelled } from "../../parts/cards";
import { PauseDialog } from "../../parts/PauseDialog";
import { Refused } from "../../parts/Refused";
import { Time } from "../../parts/Time";
import { useMay } from "../../state/session";
import { Scope } from "./Scope";

type Pause = components["schemas"]["PauseOutput"];
type ScopeWord = components["schemas"]["PauseScope"];

export function Resting() {
  const { t } = useTranslation("pauses");
  const operator = useMay("operator");
  const whole = useMay("operator", { whole: true });
  const [pausing, setPausing] = useState<ScopeWord | null>(null);
  const pauses = useGet("/api/v1/pauses");
  const resume = useAct(
    (id: number) => answer(client.DELETE("/api/v1/pauses/{pause_id}", { params: { path: { pause_id: id } } })),
    { done: t("resumed"), refresh: ["/api/v1/pauses", "/api/v1/tasks", "/api/v1/schedules"] },
  );
  return (
    <>
      {operator && (
        <div className="pauses-bar">
          <Dropdown
            trigger={["click"]}
            menu={{
              items: [
                { key: "task", label: t("pause.task") },
                { key: "group", label: t("pause.group") },
                { key: "all", label: t("pause.all"), danger: true, disabled: !whole },
              ],
              onClick: ({ key }) => setPausing(key as ScopeWord),
            }}
          >
            <Button type="primary">{t("pause.something")}</Button>
          </Dropdown>
        </div>
      )}
      <Refused refusal={pauses.error} again={() => void pauses.refetch()} />
      {pauses.isPending ? (
        <Skeleton active />
      ) : (
        <Table<Pause>
          className="cards"
          size="small"
          rowKey="id"
          pagination={false}
          scroll={{ x: 760 }}
          dataSource={pauses.data?.items ?? []}
          locale={{ emptyText: t("nothingRests") }}
          columns={labelled<Pause>([
            { title: t("column.what"), render: (_, pause) => <Scope {...pause} /> },
            { title: t("common:reason"), dataIndex: "reason" },
            { title: t("column.owner"), dataIndex: "owner" },
            { title: t("column.since"), render: (_, pause) => <Time at={pause.created_at} seconds={false} /> },
            {
              title: t("common:until"),
              render: (_, pause) =>
                pause.until ? (
                  <>
                    <Time at={pause.until} seconds={false} /> <span className="dim">·</span>{" "}
                    <Time at={pause.until} as="relative" />
                  </>
                ) : (
                  t("untilResumed")
                ),
            },
            {
              render: (_, pause) =>
                (pause.scope === "all" ? whole : operator) && (
                  <Popconfirm
                    title={t("resumeAsk")}
                    okText={t("resume")}
                    cancelText={t("common:cancel")}
                    onConfirm={() => resume.run(pause.id)}
                  >
                    <Button size="small" aria-label={t("resumeOf", { id: pause.id })}>
                      {t("resume")}
                    </Button>
                  </Popconfirm>
                ),
            },
          ])}
        />
      )}
      {pausing && <PauseDialog open onClose={() => setPausing(null)} scope={pausing} />}
    </>
  );
}
