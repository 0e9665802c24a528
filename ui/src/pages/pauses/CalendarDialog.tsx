// Make a calendar, or change one: the days of a country or a market, some weekdays, and some more, without others.
import { Checkbox, Form, Input } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";
import { Saving } from "./Saving";

type Calendar = components["schemas"]["CalendarOutput"];
type Fields = {
  name: string;
  country?: string;
  subdivision?: string;
  market?: string;
  weekdays?: number[];
  include?: string;
  exclude?: string;
};

export function CalendarDialog({ calendar, onClose }: { calendar: Calendar | null; onClose: () => void }) {
  const { t, i18n } = useTranslation("pauses");
  const [form] = Form.useForm<Fields>();
  const save = useAct(
    async (fields: Fields) => {
      const body = { name: fields.name.trim(), definition: definitionOf(fields) };
      if (calendar)
        await answer(
          client.PATCH("/api/v1/calendars/{calendar_id}", { params: { path: { calendar_id: calendar.id } }, body }),
        );
      else await answer(client.POST("/api/v1/calendars", { body }));
    },
    { quiet: true, done: t("calendar.saved"), refresh: ["/api/v1/calendars", "/api/v1/schedules"], then: onClose },
  );
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: "short", timeZone: "UTC" });
  return (
    <Saving
      title={calendar?.name ?? t("calendar.make")}
      form={form}
      first={first(calendar)}
      save={save}
      onClose={onClose}
    >
      <p className="dim">{t("calendar.about")}</p>
      <Form.Item name="name" label={t("column.name")} rules={[{ required: true, message: t("needed") }]}>
        <Input maxLength={200} />
      </Form.Item>
      <Form.Item name="country" label={t("calendar.country")}>
        <Input placeholder="CN" maxLength={10} />
      </Form.Item>
      <Form.Item name="subdivision" label={t("calendar.subdivision")}>
        <Input placeholder="BY" maxLength={10} />
      </Form.Item>
      <Form.Item name="market" label={t("calendar.market")}>
        <Input placeholder="XNYS" maxLength={10} />
      </Form.Item>
      <Form.Item name="weekdays" label={t("calendar.weekdays")}>
        <Checkbox.Group
          options={[1, 2, 3, 4, 5, 6, 7].map((day) => ({
            value: day,
            label: weekday.format(new Date(Date.UTC(2024, 0, day))), // which began on a Monday
          }))}
        />
      </Form.Item>
      <Form.Item name="include" label={t("calendar.include")} extra={t("calendar.dates")}>
        <Input.TextArea autoSize={{ minRows: 1, maxRows: 6 }} className="mono" />
      </Form.Item>
      <Form.Item name="exclude" label={t("calendar.exclude")} extra={t("calendar.dates")}>
        <Input.TextArea autoSize={{ minRows: 1, maxRows: 6 }} className="mono" />
      </Form.Item>
    </Saving>
  );
}

function first(calendar: Calendar | null): Partial<Fields> {
  const given = (calendar?.definition ?? {}) as Omit<Fields, "name" | "include" | "exclude"> & Record<string, unknown>;
  return {
    name: calendar?.name,
    country: given.country,
    subdivision: given.subdivision,
    market: given.market,
    weekdays: given.weekdays ?? [],
    include: dates(given.include),
    exclude: dates(given.exclude),
  };
}

function dates(given: unknown): string {
  return Array.isArray(given) ? given.join("\n") : "";
}

function definitionOf(fields: Fields): components["schemas"]["DaysInput"] {
  const list = (text: string | undefined) => (text ?? "").split(/[\s,]+/).filter(Boolean);
  const given = {
    country: fields.country?.trim(),
    subdivision: fields.subdivision?.trim(),
    market: fields.market?.trim(),
    weekdays: [...(fields.weekdays ?? [])].sort((one, other) => one - other),
    include: list(fields.include),
    exclude: list(fields.exclude),
  };
  // What is empty is left out: an empty country is no country.
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined && value.length > 0));
}
