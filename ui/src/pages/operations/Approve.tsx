// Approving: what will be locked and lost, in words; by whom and when it is to be done; and that it is really meant.
import { useQueryClient } from "@tanstack/react-query";
import { Alert, Button, Form, Input, InputNumber, Radio, Skeleton } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";
import { besides, faultOf } from "../../parts/faults";
import { LocalTime } from "../../parts/LocalTime";
import { Refused } from "../../parts/Refused";
import { useZone } from "../../time/zone";
import { destroying, stepsOf, type Preview } from "./plan";
import { previewOf, usePreview, type Place } from "./wizard";
import { Words } from "./Words";

type Props = { place: Place; onChanged: (reasons: readonly string[]) => void };
type Start = components["schemas"]["StartInput"];

export function Approve({ place, onChanged }: Props) {
  const { t } = useTranslation("operations");
  const found = usePreview(place);
  const undo = place.undo === null ? {} : { undo: String(place.undo) };
  const back = () => place.go({ step: "preview", config: place.text ?? "", ...undo });
  if (found.error && !found.data) return <Refused refusal={found.error} again={() => void found.refetch()} />;
  if (!found.data) return <Skeleton active paragraph={{ rows: 6 }} />;
  if (found.data.plan_hash !== place.plan) {
    // The address was opened anew, and the plan is not the one that was read.
    return (
      <Alert
        type="warning"
        showIcon
        title={t("approve.another")}
        action={<Button onClick={back}>{t("approve.look")}</Button>}
      />
    );
  }
  return <Approving preview={found.data} place={place} onChanged={onChanged} back={back} />;
}

function Approving({ preview, place, onChanged, back }: Props & { preview: Preview; back: () => void }) {
  const { t } = useTranslation("operations");
  const queries = useQueryClient();
  const zone = useZone();
  const steps = stepsOf(preview.statements);
  const lost = preview.config.dry_run === true ? [] : destroying(steps);
  const [typed, setTyped] = useState("");
  const [held, setHeld] = useState(false);
  const [more, setMore] = useState<Pick<Start, "priority" | "run_at" | "notes">>({});
  const sure = lost.length === 0 || typed.trim() === preview.data_source;
  const start = useAct(
    (body: Start) => answer(client.POST("/api/v1/operations/{kind}", { params: { path: { kind: place.kind } }, body })),
    {
      quiet: true,
      refresh: ["/api/v1/instances", "/api/v1/stats"],
      then: ({ id }) => place.go({ instance: String(id), ...(place.text === null ? {} : { config: place.text }) }),
    },
  );
  const refusal = start.refusal;
  const reasons = reasonsOf(refusal?.body.reasons);

  function submit() {
    if (!sure || start.pending) return;
    void start.run({
      config: place.config ?? {},
      plan_hash: preview.plan_hash,
      held,
      priority: more.priority ?? null,
      run_at: more.run_at ?? null,
      notes: more.notes?.trim() ? more.notes.trim() : null,
    });
  }

  async function lookAgain() {
    onChanged(reasons);
    await queries.invalidateQueries({ queryKey: previewOf(place.kind, place.text ?? "").queryKey });
    back();
  }

  return (
    <Form layout="vertical" className="operations-approve" onFinish={submit}>
      <Words config={place.config ?? {}} preview={preview} steps={steps} lost={lost} />
      <div className="operations-panel">
        <Form.Item label={t("approve.when")}>
          <Radio.Group
            value={held}
            onChange={({ target }) => setHeld(target.value === true)}
            options={[
              { value: false, label: t("approve.now") },
              { value: true, label: t("approve.held") },
            ]}
          />
          {held && <div className="dim">{t("approve.heldHelp")}</div>}
        </Form.Item>
        <div className="operations-fields">
          <Form.Item
            label={t("approve.runAt")}
            htmlFor="operation-at"
            extra={t("approve.runAtHelp")}
            {...faultOf(refusal, "run_at")}
          >
            <LocalTime
              id="operation-at"
              zone={zone}
              value={more.run_at ?? null}
              onChange={(at) => setMore({ ...more, run_at: at })}
            />
          </Form.Item>
          <Form.Item
            label={t("approve.priority")}
            htmlFor="operation-priority"
            extra={t("approve.priorityHelp")}
            {...faultOf(refusal, "priority")}
          >
            <InputNumber
              id="operation-priority"
              min={0}
              max={9}
              value={more.priority ?? null}
              onChange={(priority) => setMore({ ...more, priority })}
            />
          </Form.Item>
        </div>
        <Form.Item
          label={t("approve.notes")}
          htmlFor="operation-notes"
          extra={t("approve.notesHelp")}
          {...faultOf(refusal, "notes")}
        >
          <Input.TextArea
            id="operation-notes"
            autoSize={{ minRows: 2, maxRows: 8 }}
            maxLength={10_000}
            value={more.notes ?? ""}
            onChange={({ target }) => setMore({ ...more, notes: target.value })}
          />
        </Form.Item>
        {lost.length > 0 && (
          <Form.Item
            label={t("approve.confirm", { name: preview.data_source })}
            htmlFor="operation-sure"
            className="operations-sure"
          >
            <Input
              id="operation-sure"
              autoComplete="off"
              spellCheck={false}
              placeholder={preview.data_source}
              value={typed}
              onChange={({ target }) => setTyped(target.value)}
            />
          </Form.Item>
        )}
      </div>
      {refusal !== null && reasons.length > 0 ? (
        <Alert
          type="warning"
          showIcon
          role="alert"
          className="operations-alert"
          title={t("approve.refused")}
          description={
            <ul className="operations-list">
              {reasons.map((reason) => (
                <li key={reason}>{reason}</li>
              ))}
            </ul>
          }
          action={
            <Button type="primary" onClick={() => void lookAgain()}>
              {t("approve.look")}
            </Button>
          }
        />
      ) : (
        <Refused refusal={besides(refusal, ["run_at", "priority", "notes"])} />
      )}
      <div className="operations-buttons">
        <Button type="primary" danger={lost.length > 0} htmlType="submit" disabled={!sure} loading={start.pending}>
          {held ? t("approve.plan") : t("approve.start", { name: preview.data_source })}
        </Button>
        <Button onClick={back}>{t("approve.back")}</Button>
      </div>
    </Form>
  );
}

function reasonsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === "string") : [];
}
