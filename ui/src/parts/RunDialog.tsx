// Run a task by hand: with which arguments, how urgently, when, and under which key.
import { App, Button, Checkbox, Collapse, Form, Input, InputNumber, Modal, Segmented, Skeleton } from "antd";
import { useNavigate } from "@tanstack/react-router";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../api/actions";
import { answer, client } from "../api/client";
import { useGet } from "../api/queries";
import type { components } from "../api/schema";
import { useZone } from "../time/zone";
import { LocalTime } from "./LocalTime";
import { Refused } from "./Refused";
import { describes, missingArgs, readArgs, type Args } from "./running";
import { SchemaForm } from "./SchemaForm";

type Task = components["schemas"]["Task"];
type Run = components["schemas"]["RunInput"];
export type RunProps = { open: boolean; onClose: () => void; taskId: number; task?: Task | null };

export function RunDialog(props: RunProps) {
  return props.open ? <Open {...props} /> : null;
}

function Open({ onClose, taskId, task }: RunProps) {
  const { t } = useTranslation("running");
  const read = useGet("/api/v1/tasks/{task_id}", { path: { task_id: taskId } }, { enabled: !task, every: false });
  const known = task ?? read.data;
  if (known) return <Ready task={known} onClose={onClose} />;
  return (
    <Modal open title={t("title", { name: `#${taskId}` })} onCancel={onClose} footer={null}>
      {read.error ? <Refused refusal={read.error} again={() => void read.refetch()} /> : <Skeleton active />}
    </Modal>
  );
}

const SHOWN = 4;

function Ready({ task, onClose }: { task: Task; onClose: () => void }) {
  const { t } = useTranslation("running");
  const { notification } = App.useApp();
  const navigate = useNavigate();
  const zone = useZone(task.timezone);
  const schema = describes(task.args_schema) ? task.args_schema : null;
  const [as, setAs] = useState<"form" | "json">(schema ? "form" : "json");
  const [args, setArgs] = useState<Args>({});
  const [text, setText] = useState("");
  const [more, setMore] = useState<Omit<Run, "args">>({ wait: false });
  const box = useRef<HTMLDivElement>(null);

  const act = useAct(
    (body: Run) => answer(client.POST("/api/v1/tasks/{task_id}/run", { params: { path: { task_id: task.id } }, body })),
    {
      refresh: ["/api/v1/instances", "/api/v1/stats", "/api/v1/tasks"],
      quiet: true,
      then: (made) => {
        onClose();
        const key = `run ${made.id}`;
        const open = () => {
          notification.destroy(key);
          void navigate({ to: "/instances/$id", params: { id: String(made.id) } });
        };
        notification.success({
          key,
          title: made.existing ? t("existing", { id: made.id }) : t("made", { id: made.id, name: task.name }),
          actions: <Button onClick={open}>{t("open", { id: made.id })}</Button>,
        });
      },
    },
  );
  const written = as === "json" ? readArgs(text) : { args: Object.keys(args).length > 0 ? args : null };
  const missing = as === "form" ? missingArgs(schema, args) : [];
  const faults = (act.refusal?.faults ?? []).map(({ field, message }) => ({
    field: field.replace(/^args\./, ""),
    message,
  }));

  function run() {
    if ("fault" in written || missing.length > 0 || act.pending) return;
    void act.run({ ...more, key: more.key?.trim() || undefined, args: written.args });
  }

  function change(to: "form" | "json") {
    if (to === "json") setText(Object.keys(args).length > 0 ? JSON.stringify(args, null, 2) : "");
    else if ("args" in written) setArgs(written.args ?? {});
    setAs(to);
  }

  const fault = "fault" in written ? t(`fault.${written.fault}`, { detail: written.detail }) : undefined;
  return (
    <Modal
      open
      title={t("title", { name: task.name })}
      width={620}
      onCancel={onClose}
      onOk={run}
      okText={t("run")}
      // Where the keys are wanted: at the first argument, else at the button.
      afterOpenChange={(open) => {
        const first = box.current?.querySelector<HTMLElement>(".schema-grid :is(input, textarea)");
        if (open) (first ?? document.getElementById("run-now"))?.focus();
      }}
      okButtonProps={{ id: "run-now", loading: act.pending, disabled: fault !== undefined || missing.length > 0 }}
      cancelText={t("common:cancel")}
    >
      <Form layout="vertical" onFinish={run}>
        {task.type !== "operation" && (
          <>
            <div className="run-args">
              <span>{t("args")}</span>
              {schema && (
                <Segmented
                  size="small"
                  value={as}
                  onChange={change}
                  options={[
                    { value: "form", label: t("form") },
                    { value: "json", label: "JSON" },
                  ]}
                />
              )}
            </div>
            {as === "form" && schema ? (
              <div ref={box}>
                <SchemaForm
                  schema={schema}
                  value={args}
                  faults={faults}
                  onChange={(value) => setArgs(typeof value === "object" && value !== null ? (value as Args) : {})}
                />
              </div>
            ) : (
              <Form.Item validateStatus={fault ? "error" : ""} help={fault ?? t("argsHint")}>
                <Input.TextArea
                  className="mono"
                  aria-label={t("args")}
                  autoSize={{ minRows: 3, maxRows: 14 }}
                  value={text}
                  placeholder='{"day": "2026-11-15"}'
                  onChange={(event) => setText(event.target.value)}
                />
              </Form.Item>
            )}
            {missing.length > 0 && <p className="dim">{t("missing", { names: missing.join(", ") })}</p>}
          </>
        )}
        {task.dependency_ids.length > 0 && (
          <Form.Item extra={more.wait ? undefined : t("waitNot", { count: task.dependency_ids.length })}>
            <Checkbox checked={more.wait} onChange={(event) => setMore({ ...more, wait: event.target.checked })}>
              {t("wait", { count: task.dependency_ids.length })}
            </Checkbox>
          </Form.Item>
        )}
        <Followers task={task} />
        <Collapse
          size="small"
          items={[
            {
              key: "more",
              label: t("more"),
              children: <More task={task} zone={zone} value={more} onChange={setMore} />,
            },
          ]}
        />
      </Form>
      <Refused refusal={act.refusal} />
    </Modal>
  );
}

/** What comes after a task that has instants follows these: who runs it by hand should not wait for the others. */
function Followers({ task }: { task: Task }) {
  const { t } = useTranslation("running");
  const wanted = task.schedule !== "@manual" && task.schedule !== "@upstream";
  const found = useGet(
    "/api/v1/tasks/{task_id}/impact",
    { path: { task_id: task.id } },
    { enabled: wanted, every: false },
  );
  const names = (found.data?.items ?? []).filter(({ depth }) => depth === 1).map(({ name }) => name);
  if (!wanted || names.length === 0) return null;
  return (
    <p className="dim run-followers">
      {t("followers", { names: names.slice(0, SHOWN).join(", ") + (names.length > SHOWN ? " …" : "") })}
    </p>
  );
}

type MoreProps = { task: Task; zone: string; value: Omit<Run, "args">; onChange: (value: Omit<Run, "args">) => void };

function More({ task, zone, value, onChange }: MoreProps) {
  const { t } = useTranslation("running");
  return (
    <>
      <Form.Item label={t("priority")} htmlFor="run-priority" extra={t("priorityHint", { usual: task.priority })}>
        <InputNumber
          id="run-priority"
          min={0}
          max={9}
          value={value.priority}
          placeholder={String(task.priority)}
          onChange={(priority) => onChange({ ...value, priority })}
        />
      </Form.Item>
      <Form.Item label={t("runAt")} htmlFor="run-at" extra={t("runAtHint")}>
        <LocalTime
          id="run-at"
          zone={zone}
          value={value.run_at ?? null}
          onChange={(runAt) => onChange({ ...value, run_at: runAt })}
        />
      </Form.Item>
      <Form.Item label={t("key")} htmlFor="run-key" extra={t("keyHint")}>
        <Input
          id="run-key"
          value={value.key ?? ""}
          onChange={(event) => onChange({ ...value, key: event.target.value })}
        />
      </Form.Item>
    </>
  );
}
