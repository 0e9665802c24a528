// Make a maintenance window, or change one.
import { Form, Input, InputNumber, Radio, Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { AuditedFold } from "../../parts/Audited";
import { useScheduleWords } from "../../parts/Schedule";
import { ZoneSelect } from "../../parts/ZoneSelect";
import { useMay } from "../../state/session";
import { browserZone } from "../../time/format";
import { Saving } from "./Saving";

type Window = components["schemas"]["WindowOutput"];
type Fields = {
  name: string;
  reason: string;
  scope: components["schemas"]["PauseScope"];
  task_id?: number;
  group?: string;
  by: "schedule" | "calendar";
  schedule?: string;
  minutes?: number;
  calendar?: string;
  timezone: string;
};

export function WindowDialog({ window, onClose }: { window: Window | null; onClose: () => void }) {
  const { t } = useTranslation("pauses");
  const whole = useMay("editor", { whole: true });
  const inWords = useScheduleWords();
  const [form] = Form.useForm<Fields>();
  const given = Form.useWatch([], form) as Partial<Fields> | undefined; // nothing before it is first drawn
  const [q, setQ] = useState("");
  const groups = useGet("/api/v1/groups");
  const calendars = useGet("/api/v1/calendars");
  const tasks = useGet("/api/v1/tasks", { query: { q: q || undefined, limit: 50 } }, { keep: true, every: false });
  const save = useAct(
    async (fields: Fields) => {
      const body = bodyOf(fields);
      if (window)
        await answer(
          client.PATCH("/api/v1/maintenance-windows/{window_id}", { params: { path: { window_id: window.id } }, body }),
        );
      else await answer(client.POST("/api/v1/maintenance-windows", { body }));
    },
    {
      quiet: true,
      done: t("window.saved"),
      refresh: ["/api/v1/maintenance-windows", "/api/v1/tasks", "/api/v1/schedules"],
      then: onClose,
    },
  );
  const needed = [{ required: true, message: t("needed") }];
  const named = tasks.data?.items.map((task) => ({ value: task.id, label: task.name })) ?? [];
  const kept = window?.task_id ? [{ value: window.task_id, label: window.task_name ?? `#${window.task_id}` }] : [];
  return (
    <Saving
      title={window?.name ?? t("window.make")}
      form={form}
      first={first(window)}
      save={save}
      onClose={onClose}
      beneath={window && <AuditedFold of={{ type: "maintenance-window", id: window.id }} zone={window.timezone} />}
    >
      <Form.Item name="name" label={t("column.name")} rules={needed}>
        <Input maxLength={200} />
      </Form.Item>
      <Form.Item name="reason" label={t("common:reason")} rules={needed} extra={t("window.reasonHint")}>
        <Input maxLength={1_000} />
      </Form.Item>
      <Form.Item name="scope" label={t("column.what")}>
        <Radio.Group
          options={[
            { value: "group", label: t("scope.group") },
            { value: "task", label: t("scope.task") },
            { value: "all", label: t("scope.all"), disabled: !whole },
          ]}
        />
      </Form.Item>
      {given?.scope === "group" && (
        <Form.Item name="group" label={t("scope.group")} rules={needed}>
          <Select showSearch options={groups.data?.items.map((one) => ({ value: one.name, label: one.name }))} />
        </Form.Item>
      )}
      {given?.scope === "task" && (
        <Form.Item name="task_id" label={t("scope.task")} rules={needed}>
          <Select
            showSearch={{ filterOption: false, onSearch: setQ }}
            options={[...kept.filter((one) => !named.some((other) => other.value === one.value)), ...named]}
          />
        </Form.Item>
      )}
      <Form.Item name="by" label={t("window.when")}>
        <Radio.Group
          options={[
            { value: "schedule", label: t("window.bySchedule") },
            { value: "calendar", label: t("window.byCalendar") },
          ]}
        />
      </Form.Item>
      {given?.by === "schedule" && (
        <>
          <Form.Item
            name="schedule"
            label={t("window.schedule")}
            rules={needed}
            extra={given.schedule ? inWords(given.schedule, given.timezone ?? "UTC") : t("window.scheduleHint")}
          >
            <Input className="mono" placeholder="0 2 * * *" />
          </Form.Item>
          <Form.Item name="minutes" label={t("window.minutes")} rules={needed}>
            <InputNumber min={1} max={10_080} />
          </Form.Item>
        </>
      )}
      {given?.by === "calendar" && (
        <Form.Item name="calendar" label={t("window.calendar")} rules={needed} extra={t("window.calendarHint")}>
          <Select options={calendars.data?.items.map((one) => ({ value: one.name, label: one.name }))} />
        </Form.Item>
      )}
      <Form.Item name="timezone" label={t("window.zone")}>
        <ZoneSelect />
      </Form.Item>
    </Saving>
  );
}

function first(window: Window | null): Partial<Fields> {
  if (window === null) return { scope: "group", by: "schedule", minutes: 60, timezone: browserZone() };
  return {
    name: window.name,
    reason: window.reason,
    scope: window.scope,
    task_id: window.task_id ?? undefined,
    group: window.scope === "group" ? (window.group ?? undefined) : undefined,
    by: window.calendar === null ? "schedule" : "calendar",
    schedule: window.schedule ?? undefined,
    minutes: window.duration_seconds === null ? undefined : window.duration_seconds / 60,
    calendar: window.calendar ?? undefined,
    timezone: window.timezone,
  };
}

function bodyOf(fields: Fields): components["schemas"]["WindowInput"] {
  return {
    name: fields.name.trim(),
    reason: fields.reason.trim(),
    scope: fields.scope,
    timezone: fields.timezone,
    ...(fields.scope === "task" ? { task_id: fields.task_id } : {}),
    ...(fields.scope === "group" ? { group: fields.group } : {}),
    ...(fields.by === "calendar"
      ? { calendar: fields.calendar }
      : { schedule: fields.schedule?.trim(), duration_seconds: Math.round((fields.minutes ?? 0) * 60) }),
  };
}
