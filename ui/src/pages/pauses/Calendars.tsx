// Calendars: named days, shown as a year.
import { PlusOutlined } from "@ant-design/icons";
import { Button, Empty, Popconfirm, Select, Skeleton, Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { Refused } from "../../parts/Refused";
import { useMay } from "../../state/session";
import { useFilters } from "../../state/url";
import { CalendarDialog } from "./CalendarDialog";
import { Year } from "./Year";

type Calendar = components["schemas"]["CalendarOutput"];

export function Calendars() {
  const { t } = useTranslation("pauses");
  const editor = useMay("editor", { whole: true });
  const [filters, change] = useFilters();
  const [open, setOpen] = useState<Calendar | "new" | null>(null);
  const calendars = useGet("/api/v1/calendars");
  const items = calendars.data?.items ?? [];
  const chosen = items.find((one) => String(one.id) === filters.calendar) ?? items[0];
  const remove = useAct(
    (id: number) => answer(client.DELETE("/api/v1/calendars/{calendar_id}", { params: { path: { calendar_id: id } } })),
    { done: t("calendar.deleted"), refresh: ["/api/v1/calendars"] },
  );
  return (
    <>
      <div className="pauses-bar">
        {items.length > 0 && (
          <Select
            className="calendar-choice"
            value={chosen?.id}
            aria-label={t("calendar.choose")}
            onChange={(id) => change({ calendar: String(id) })}
            options={items.map((one) => ({ value: one.id, label: one.name }))}
          />
        )}
        {editor && (
          <Space wrap>
            <Button type="primary" icon={<PlusOutlined />} onClick={() => setOpen("new")}>
              {t("calendar.make")}
            </Button>
            {chosen && (
              <>
                <Button onClick={() => setOpen(chosen)}>{t("common:edit")}</Button>
                <Popconfirm
                  title={t("calendar.deleteAsk", { name: chosen.name })}
                  okText={t("common:delete")}
                  cancelText={t("common:cancel")}
                  okButtonProps={{ danger: true }}
                  onConfirm={() => remove.run(chosen.id)}
                >
                  <Button danger>{t("common:delete")}</Button>
                </Popconfirm>
              </>
            )}
          </Space>
        )}
      </div>
      <Refused refusal={calendars.error} again={() => void calendars.refetch()} />
      {calendars.isPending && <Skeleton active />}
      {calendars.data && items.length === 0 && <Empty description={t("calendar.none")} />}
      {chosen && <Year key={chosen.id} calendar={chosen} />}
      {open !== null && <CalendarDialog calendar={open === "new" ? null : open} onClose={() => setOpen(null)} />}
    </>
  );
}
