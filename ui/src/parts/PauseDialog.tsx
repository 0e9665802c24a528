// Let a task, a group or everything rest: why, and when it goes on by itself.
import { Form, Input, Modal, Radio, Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../api/actions";
import { answer, client } from "../api/client";
import { useGet } from "../api/queries";
import type { components } from "../api/schema";
import { useZone } from "../time/zone";
import { tomorrowAtNine } from "../time/local";
import { focusOn } from "./focus";
import { LocalTime } from "./LocalTime";
import { Refused } from "./Refused";
import { Time } from "./Time";

type Pause = components["schemas"]["PauseInput"];
export type PauseProps = {
  open: boolean;
  onClose: () => void;
  scope: "task" | "group" | "all";
  /** Of the scope task; chosen in the dialog when none is given. */
  task?: { id: number; name: string; timezone?: string } | null;
  /** The name of a group, likewise. */
  group?: string | null;
};
const WHEN = ["quarter", "hour", "tomorrow", "custom", "never"] as const;
type When = (typeof WHEN)[number];

export function PauseDialog(props: PauseProps) {
  // Opened anew it begins anew: the form lives only while it is open.
  return props.open ? <Open {...props} /> : null;
}

function Open({ onClose, scope, task, group }: PauseProps) {
  const { t } = useTranslation("pausing");
  const zone = useZone(task?.timezone);
  const [reason, setReason] = useState("");
  const [when, setWhen] = useState<When>("hour");
  const [custom, setCustom] = useState<string | null>(null);
  const [chosen, setChosen] = useState<{ task?: number; group?: string }>({
    task: task?.id,
    group: group ?? undefined,
  });
  const [opened] = useState(() => Date.now());
  const act = useAct((body: Pause) => answer(client.POST("/api/v1/pauses", { body })), {
    done: t("done"),
    refresh: ["/api/v1/pauses", "/api/v1/tasks", "/api/v1/schedules"],
    quiet: true,
    then: onClose,
  });
  const past = when === "custom" && custom !== null && Date.parse(custom) <= opened;
  const missing =
    past ||
    reason.trim() === "" ||
    (when === "custom" && custom === null) ||
    (scope === "task" && chosen.task === undefined) ||
    (scope === "group" && chosen.group === undefined);

  function pause() {
    if (missing || act.pending) return;
    void act.run({
      scope,
      task_id: scope === "task" ? chosen.task : undefined,
      group: scope === "group" ? chosen.group : undefined,
      reason: reason.trim(),
      until: untilOf(when, custom, Date.now(), zone),
    });
  }

  const name = scope === "task" ? task?.name : group;
  const seen = when === "custom" ? null : untilOf(when, custom, opened, zone);
  return (
    <Modal
      open
      title={name ? t(`title.${scope}`, { name }) : t(`choose.${scope}`)}
      onCancel={onClose}
      afterOpenChange={focusOn(name ? "pause-reason" : scope === "all" ? "pause-reason" : `pause-${scope}`)}
      onOk={pause}
      okText={t(`ok.${scope}`)}
      okButtonProps={{ disabled: missing, loading: act.pending, danger: scope === "all" }}
      cancelText={t("common:cancel")}
    >
      <p className="dim">{t(`about.${scope}`)}</p>
      <Form layout="vertical" onFinish={pause}>
        {scope === "task" && !task && <TaskChoice onChange={(id) => setChosen({ task: id })} />}
        {scope === "group" && !group && <GroupChoice onChange={(one) => setChosen({ group: one })} />}
        <Form.Item label={t("common:reason")} htmlFor="pause-reason" required>
          <Input
            id="pause-reason"
            value={reason}
            maxLength={1000}
            placeholder={t("reasonHint")}
            onChange={(event) => setReason(event.target.value)}
          />
        </Form.Item>
        <Form.Item label={t("until")}>
          <Radio.Group
            optionType="button"
            value={when}
            aria-label={t("until")}
            onChange={(event) => setWhen(event.target.value as When)}
            options={WHEN.map((value) => ({ value, label: t(`when.${value}`) }))}
          />
        </Form.Item>
        {when === "custom" && (
          <Form.Item validateStatus={past ? "error" : ""} help={past ? t("past") : undefined}>
            <LocalTime
              value={custom}
              onChange={setCustom}
              zone={zone}
              label={t("until")}
              status={past ? "error" : ""}
              aria-invalid={past}
            />
          </Form.Item>
        )}
        <p className="dim">
          {when === "never" ? t("lasts") : seen ? t("resumes") : t("resumesThen")}{" "}
          {seen && <Time at={seen} zone={task?.timezone} seconds={false} />}
        </p>
      </Form>
      <Refused refusal={act.refusal} />
    </Modal>
  );
}

export function untilOf(when: When, custom: string | null, now: number, zone: string): string | null {
  switch (when) {
    case "quarter":
      return new Date(now + 15 * 60_000).toISOString();
    case "hour":
      return new Date(now + 60 * 60_000).toISOString();
    case "tomorrow":
      return tomorrowAtNine(new Date(now), zone).toISOString();
    case "custom":
      return custom;
    case "never":
      return null;
  }
}

function TaskChoice({ onChange }: { onChange: (id: number) => void }) {
  const { t } = useTranslation("pausing");
  const [q, setQ] = useState("");
  const found = useGet("/api/v1/tasks", { query: { q: q || undefined, limit: 50 } }, { keep: true, every: false });
  return (
    <Form.Item label={t("task")} htmlFor="pause-task" required>
      <Select
        id="pause-task"
        showSearch={{ filterOption: false, onSearch: setQ }}
        onChange={onChange}
        options={(found.data?.items ?? []).map(({ id, name }) => ({ value: id, label: name }))}
      />
    </Form.Item>
  );
}

function GroupChoice({ onChange }: { onChange: (name: string) => void }) {
  const { t } = useTranslation("pausing");
  const found = useGet("/api/v1/groups", {}, { every: false });
  return (
    <Form.Item label={t("group")} htmlFor="pause-group" required>
      <Select
        id="pause-group"
        showSearch
        onChange={onChange}
        options={(found.data?.items ?? []).map(({ name }) => ({ value: name, label: name }))}
      />
    </Form.Item>
  );
}
