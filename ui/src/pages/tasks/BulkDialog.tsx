// Change all tasks that fit the filter: first it is counted, then somebody agrees to that number, then it is done.
import { Alert, Checkbox, Input, Modal, Skeleton } from "antd";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";
import { Refused } from "../../parts/Refused";
import { choiceOf, isEverything, type BulkAction, type TaskQuery } from "./filters";

type Bulk = components["schemas"]["Bulk"];
type Props = { action: BulkAction; query: TaskQuery; onClose: () => void };

export function BulkDialog({ action, query, onClose }: Props) {
  const { t } = useTranslation("tasks");
  const [force, setForce] = useState(false);
  const [typed, setTyped] = useState("");
  const [counted, setCounted] = useState<Bulk | null>(null);
  const [done, setDone] = useState<Bulk | null>(null);
  const ask = (dryRun: boolean) =>
    answer(client.POST("/api/v1/tasks/bulk", { body: { action, filter: choiceOf(query), dry_run: dryRun, force } }));
  const count = useAct(() => ask(true), { quiet: true, then: setCounted });
  const change = useAct(() => ask(false), { quiet: true, refresh: ["/api/v1/tasks", "/api/v1/stats"], then: setDone });
  useEffect(() => {
    void count.run();
    // Once, for what was chosen when the dialog was opened.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);

  const matched = counted?.matched ?? 0;
  const agreed = action !== "delete" || typed.trim() === String(matched);
  return (
    <Modal
      open
      title={t(`bulk.${action}`)}
      onCancel={onClose}
      onOk={() => (done && !done.more ? onClose() : void change.run())}
      okText={done ? (done.more ? t("bulk.goOn") : t("common:close")) : t(`bulk.${action}Count`, { count: matched })}
      okButtonProps={{
        danger: action === "delete" && !done,
        loading: change.pending,
        disabled: !done && (matched === 0 || !agreed),
      }}
      cancelButtonProps={{ style: done && !done.more ? { display: "none" } : undefined }}
      cancelText={t("common:cancel")}
    >
      <p>
        {isEverything(query) ? (
          <strong>{t("bulk.everything")}</strong>
        ) : (
          Object.entries(query).map(([name, value]) => (
            <span key={name} className="tasks-criterion">
              {t(`filter.${name}`)}:{" "}
              <strong>{value === true ? t("enabled") : value === false ? t("disabled") : value}</strong>
            </span>
          ))
        )}
      </p>
      {counted === null && !count.refusal && <Skeleton active title={false} paragraph={{ rows: 2 }} />}
      {counted && !done && (
        <>
          <p>{t(`bulk.${action}About`, { count: matched })}</p>
          {counted.more && <p className="dim">{t("bulk.bounded")}</p>}
          {action === "delete" && matched > 0 && (
            <>
              <Checkbox checked={force} onChange={(event) => setForce(event.target.checked)}>
                {t("bulk.force")}
              </Checkbox>
              <p className="tasks-typed">
                <label htmlFor="bulk-typed">{t("bulk.type", { count: matched })}</label>
                <Input id="bulk-typed" value={typed} onChange={(event) => setTyped(event.target.value)} />
              </p>
            </>
          )}
        </>
      )}
      {done && (
        <Alert
          type={done.refused.length > 0 ? "warning" : "success"}
          showIcon
          title={t("bulk.done", { count: done.done })}
          description={
            done.refused.length > 0 && (
              <>
                {t("bulk.refused", { count: done.matched - done.done })}
                <ul>
                  {done.refused.map((one) => (
                    <li key={one.id}>{one.message}</li>
                  ))}
                </ul>
              </>
            )
          }
        />
      )}
      <Refused refusal={count.refusal ?? change.refusal} />
    </Modal>
  );
}
