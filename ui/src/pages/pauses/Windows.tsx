// Maintenance windows: pauses that recur.
import { PlusOutlined } from "@ant-design/icons";
import { Button, Popconfirm, Skeleton, Space, Switch, Table, Tag } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { labelled } from "../../parts/cards";
import { Refused } from "../../parts/Refused";
import { useScheduleWords } from "../../parts/Schedule";
import { Time } from "../../parts/Time";
import { useMay } from "../../state/session";
import { lengthOf } from "../../time/format";
import { Scope } from "./Scope";
import { WindowDialog } from "./WindowDialog";

type Window = components["schemas"]["WindowOutput"];
const REFRESH = ["/api/v1/maintenance-windows", "/api/v1/tasks", "/api/v1/schedules"];

export function Windows() {
  const { t } = useTranslation("pauses");
  const editor = useMay("editor");
  const whole = useMay("editor", { whole: true });
  // Who is limited to groups sees what rests with everything, and cannot change it.
  const mayChange = (one: Window) => (one.scope === "all" ? whole : editor);
  const inWords = useScheduleWords();
  const [open, setOpen] = useState<Window | "new" | null>(null);
  const windows = useGet("/api/v1/maintenance-windows");
  const remove = useAct(
    (id: number) =>
      answer(client.DELETE("/api/v1/maintenance-windows/{window_id}", { params: { path: { window_id: id } } })),
    { done: t("window.deleted"), refresh: REFRESH },
  );
  const toggle = useAct(
    (id: number, enabled: boolean) =>
      answer(
        client.PATCH("/api/v1/maintenance-windows/{window_id}", {
          params: { path: { window_id: id } },
          body: { enabled },
        }),
      ),
    { refresh: REFRESH },
  );
  return (
    <>
      {editor && (
        <div className="pauses-bar">
          <Button type="primary" icon={<PlusOutlined />} onClick={() => setOpen("new")}>
            {t("window.make")}
          </Button>
        </div>
      )}
      <Refused refusal={windows.error} again={() => void windows.refetch()} />
      {windows.isPending ? (
        <Skeleton active />
      ) : (
        <Table<Window>
          className="cards"
          size="small"
          rowKey="id"
          pagination={false}
          scroll={{ x: 980 }}
          dataSource={windows.data?.items ?? []}
          locale={{ emptyText: t("window.none") }}
          columns={labelled<Window>([
            {
              title: t("column.name"),
              render: (_, one) => (
                <>
                  {one.name}{" "}
                  {one.open && (
                    <Tag color="gold" variant="filled">
                      {t("window.open")}
                    </Tag>
                  )}
                </>
              ),
            },
            { title: t("column.what"), render: (_, one) => <Scope {...one} /> },
            {
              title: t("window.when"),
              render: (_, one) =>
                one.calendar !== null ? (
                  t("window.onDays", { calendar: one.calendar, zone: one.timezone })
                ) : (
                  <span title={one.schedule ?? undefined}>
                    {t("window.opens", {
                      schedule: inWords(one.schedule ?? "", one.timezone),
                      length: lengthOf((one.duration_seconds ?? 0) * 1_000),
                      zone: one.timezone,
                    })}
                  </span>
                ),
            },
            {
              title: t("window.next"),
              render: (_, one) => {
                const next = one.next[0];
                if (!next) return <span className="dim">–</span>;
                return (
                  <>
                    <Time at={next.from} zone={one.timezone} seconds={false} /> –{" "}
                    <Time at={next.to} zone={one.timezone} seconds={false} as="clock" />
                  </>
                );
              },
            },
            { title: t("common:reason"), dataIndex: "reason" },
            {
              title: t("window.enabled"),
              render: (_, one) => (
                <Switch
                  size="small"
                  checked={one.enabled}
                  disabled={!mayChange(one) || toggle.pending}
                  aria-label={t("window.enabledOf", { name: one.name })}
                  onChange={(enabled) => void toggle.run(one.id, enabled)}
                />
              ),
            },
            {
              render: (_, one) =>
                mayChange(one) && (
                  <Space>
                    <Button size="small" aria-label={t("editOf", { name: one.name })} onClick={() => setOpen(one)}>
                      {t("common:edit")}
                    </Button>
                    <Popconfirm
                      title={t("window.deleteAsk", { name: one.name })}
                      okText={t("common:delete")}
                      cancelText={t("common:cancel")}
                      okButtonProps={{ danger: true }}
                      onConfirm={() => remove.run(one.id)}
                    >
                      <Button size="small" danger aria-label={t("deleteOf", { name: one.name })}>
                        {t("common:delete")}
                      </Button>
                    </Popconfirm>
                  </Space>
                ),
            },
          ])}
        />
      )}
      {open !== null && <WindowDialog window={open === "new" ? null : open} onClose={() => setOpen(null)} />}
    </>
  );
}
