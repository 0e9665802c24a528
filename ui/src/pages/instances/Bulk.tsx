// Many at once: how many it hits and which, then why, then what became of it.
import { useQuery } from "@tanstack/react-query";
import { Alert, Form, Input, Modal, Skeleton } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { fetchPath } from "../../api/queries";
import type { Refusal } from "../../api/refusal";
import type { components } from "../../api/schema";
import { focusOn } from "../../parts/focus";
import { Refused } from "../../parts/Refused";
import { eachOf, type Done } from "./each";
import type { Instance } from "./feed";
import { choiceOf, examplesOf, type Action, type Wanted } from "./wanted";

/** Rows that were selected, or whatever the filter fits. */
export type Target = { action: Action; rows: Instance[] } | { action: Action; wanted: Wanted };

const COUNTED = 100_000;
const EXAMPLES = 5;

type Props = {
  target: Target;
  onDone: () => void;
  onChanged: (rows: Instance[]) => void;
  onClose: () => void;
};
type Counted = { count: number; more: boolean; examples: readonly Instance[] };

export function Bulk({ target, onDone, onChanged, onClose }: Props) {
  const { t } = useTranslation("instances");
  const { action } = target;
  const [reason, setReason] = useState("");
  const [done, setDone] = useState<Done | null>(null);
  const found = useQuery<Counted, Refusal>({
    queryKey: ["bulk", target],
    queryFn: () => countOf(target),
    gcTime: 0,
    staleTime: Infinity,
    refetchOnWindowFocus: false,
  });
  const doing = useAct(
    async () =>
      "rows" in target
        ? await eachOf(action, target.rows, reason.trim(), onChanged)
        : await inBulk({ action, filter: choiceOf(target.wanted), dry_run: false, ...why(action, reason) }),
    { refresh: ["/api/v1/instances", "/api/v1/stats"], quiet: true, then: setDone },
  );
  const many = found.data?.count ?? 0;
  const count = many >= COUNTED ? t("bulk.atLeast", { count: COUNTED }) : t("bulk.count", { count: many });
  const unreasoned = action === "cancel" && reason.trim() === "";
  const close = () => {
    if (done !== null) onDone();
    onClose();
  };
  const goesOn = done === null || done.more;
  return (
    <Modal
      open
      title={"rows" in target ? t(`bulk.${action}Selected`) : t(`bulk.${action}Matching`)}
      onCancel={close}
      okText={done?.more ? t("bulk.goOn") : t(`bulk.${action}`, { instances: count })}
      okButtonProps={{
        danger: action === "cancel",
        disabled: many === 0 || unreasoned,
        style: goesOn ? undefined : { display: "none" },
      }}
      cancelText={t("common:close")}
      confirmLoading={doing.pending}
      afterOpenChange={focusOn("bulk-reason")}
      onOk={() => void doing.run()}
    >
      <Refused refusal={found.error} again={() => void found.refetch()} />
      <Refused refusal={doing.refusal} />
      {done ? (
        <Outcome done={done} action={action} />
      ) : found.data ? (
        <>
          <p role="status">
            <strong>{count}</strong> {t(`bulk.${action}Effect`)}
          </p>
          {"wanted" in target && Object.keys(target.wanted).length === 0 && (
            <Alert type="warning" showIcon title={t("bulk.everything")} />
          )}
          {found.data.more && <Alert type="info" showIcon title={t("bulk.portion")} />}
          <Examples rows={found.data.examples} count={many} />
          {action === "cancel" && many > 0 && (
            <Form layout="vertical">
              <Form.Item label={t("common:reason")} required>
                <Input.TextArea
                  id="bulk-reason"
                  autoFocus // when it comes after the dialog
                  rows={2}
                  maxLength={1_000}
                  value={reason}
                  aria-label={t("common:reason")}
                  placeholder={t("bulk.why")}
                  onChange={(event) => setReason(event.target.value)}
                />
              </Form.Item>
            </Form>
          )}
        </>
      ) : (
        !found.error && <Skeleton active title={false} paragraph={{ rows: 4 }} />
      )}
    </Modal>
  );
}

function Examples({ rows, count }: { rows: readonly Instance[]; count: number }) {
  const { t } = useTranslation("instances");
  if (rows.length === 0) return null;
  return (
    <ul className="instances-examples">
      {rows.slice(0, EXAMPLES).map((row) => (
        <li key={row.id}>
          <span className="number">#{row.id}</span> {row.task_name}{" "}
          <span className="dim">{row.error_message ?? t(`common:status.${row.status}`)}</span>
        </li>
      ))}
      {count > EXAMPLES && <li className="dim">{t("bulk.others", { count: count - EXAMPLES })}</li>}
    </ul>
  );
}

function Outcome({ done, action }: { done: Done; action: Action }) {
  const { t } = useTranslation("instances");
  const refused = done.matched - done.done;
  return (
    <>
      <Alert
        type={refused > 0 ? "warning" : "success"}
        showIcon
        role="status"
        title={t(`bulk.${action}Done`, { count: done.done })}
        description={refused > 0 ? t("bulk.refused", { count: refused }) : undefined}
      />
      <ul className="instances-examples">
        {done.refused.map(({ id, message }) => (
          <li key={id}>
            <span className="number">#{id}</span> <span className="dim">{message}</span>
          </li>
        ))}
      </ul>
      {done.more && <p>{t("bulk.rest")}</p>}
    </>
  );
}

function why(action: Action, reason: string): { reason?: string } {
  return action === "cancel" ? { reason: reason.trim() } : {};
}

async function inBulk(body: components["schemas"]["InstancesInput"]): Promise<components["schemas"]["Bulk"]> {
  return await answer(client.POST("/api/v1/instances/bulk", { body }));
}

async function countOf(target: Target): Promise<Counted> {
  if ("rows" in target) return { count: target.rows.length, more: false, examples: target.rows };
  const { action, wanted } = target;
  const [counted, listed] = await Promise.all([
    inBulk({ action, filter: choiceOf(wanted), dry_run: true }),
    fetchPath("/api/v1/instances", { query: { ...examplesOf(action, wanted), limit: EXAMPLES } }),
  ]);
  return {
    count: counted.matched,
    more: counted.more,
    examples: listed.items.filter((row) => (row.end_time !== null) === (action === "retry")),
  };
}
