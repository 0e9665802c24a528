// Let an instance live again with other arguments, or with its task as it is now.
import { Button, Checkbox, Input } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";
import { Refused } from "../../parts/Refused";
import { describes, readArgs, type Args } from "../../parts/running";
import { SchemaForm } from "../../parts/SchemaForm";
import { REFRESHED } from "./refreshed";

type Instance = components["schemas"]["Instance"];
export type TaskShape = { args_schema: Record<string, unknown> | null; version: number };

type Props = { instance: Instance; task: TaskShape | undefined; onClose: () => void; onRetried?: () => void };

export function RetryForm({ instance, task, onClose, onRetried }: Props) {
  const { t } = useTranslation("instance");
  const schema = describes(task?.args_schema) ? task.args_schema : null;
  const [args, setArgs] = useState<unknown>(instance.args ?? {});
  const [text, setText] = useState(() => JSON.stringify(instance.args ?? {}, null, 2));
  const [current, setCurrent] = useState(false);
  const [broken, setBroken] = useState(false);
  const read = schema === null ? writtenArgs(text) : broken ? null : (args as Args);
  const retry = useAct(
    (given: Args, now: boolean) =>
      answer(
        client.POST("/api/v1/instances/{instance_id}/retry", {
          params: { path: { instance_id: instance.id } },
          body: { args: given, current_version: now },
        }),
      ),
    {
      done: t("retried"),
      refresh: REFRESHED,
      quiet: true,
      then: () => {
        onClose();
        onRetried?.();
      },
    },
  );
  const faults = (retry.refusal?.faults ?? []).map(({ field, message }) => ({
    field: field.replace(/^args\.?/, ""),
    message,
  }));

  return (
    <form
      className="instance-retry"
      onSubmit={(event) => {
        event.preventDefault();
        if (read !== null) void retry.run(read, current);
      }}
    >
      {schema === null ? (
        <>
          <Input.TextArea
            className="mono"
            autoSize={{ minRows: 5, maxRows: 18 }}
            value={text}
            status={read === null ? "error" : ""}
            aria-label={t("arguments")}
            onChange={(event) => setText(event.target.value)}
          />
          {read === null && <div className="instance-fault">{t("notJson")}</div>}
        </>
      ) : (
        <SchemaForm schema={schema} value={args} onChange={setArgs} onBroken={setBroken} faults={faults} />
      )}
      <Checkbox checked={current} onChange={(event) => setCurrent(event.target.checked)}>
        {t("currentVersion", { had: instance.task_version, now: task?.version ?? "?" })}
      </Checkbox>
      <Refused refusal={retry.refusal} />
      <div className="instance-buttons">
        <Button onClick={onClose}>{t("common:close")}</Button>
        <Button type="primary" htmlType="submit" disabled={read === null} loading={retry.pending}>
          {t("retry")}
        </Button>
      </div>
    </form>
  );
}

/** The arguments, or null while the text is none. */
function writtenArgs(text: string): Args | null {
  const read = readArgs(text);
  return "fault" in read ? null : (read.args ?? {});
}
