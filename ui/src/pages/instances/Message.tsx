// What is to be said of an instance in one line: why it failed, how far it is, what it waits for.
import type { TFunction } from "i18next";
import type { ReactNode } from "react";

import { Goto } from "../../parts/Goto";
import { Time } from "../../parts/Time";
import type { Instance } from "./feed";

type Props = { row: Instance; t: TFunction<"instances"> };

export function Message({ row, t }: Props): ReactNode {
  if (row.status === "failed") {
    const error = row.error_message ?? t("message.noError");
    return (
      <Goto href={`/instances/${row.id}?log=errors`} className="instances-error" title={error}>
        {firstLine(error)}
      </Goto>
    );
  }
  if (row.cancel_requested && row.end_time === null) {
    return <Line text={t("message.cancelling", { reason: row.cancel_reason ?? "" })} />;
  }
  if (row.status === "running") return <Running row={row} t={t} />;
  if (row.status === "planned") return <Line text={row.blocked_by ? t(`blocked.${row.blocked_by}`) : ""} />;
  if (row.status === "pending") return <Waiting row={row} t={t} />;
  if (row.skip_reason) {
    const { count } = (row.summary ?? {}) as { count?: number };
    const reason = t(`skip.${row.skip_reason}`);
    return <Line text={count && count > 1 ? t("message.skippedMany", { reason, count }) : reason} />;
  }
  return <Line text={row.cancel_reason ?? row.error_message ?? row.output_summary ?? ""} />;
}

function Line({ text }: { text: string }) {
  return (
    <span className="dim" title={text}>
      {firstLine(text)}
    </span>
  );
}

function Running({ row, t }: Props) {
  if (row.progress === null) return <Line text={row.phase ?? ""} />;
  const percent = Math.floor(row.progress * 100);
  return (
    <span className="instances-progress">
      <progress max={100} value={percent} aria-label={t("message.progress", { percent })} />
      <span className="number">{percent} %</span>
      {row.phase && <span className="dim">{row.phase}</span>}
    </span>
  );
}

function Waiting({ row, t }: Props) {
  const due = row.available_at ?? row.scheduled_time;
  return (
    <span className="dim">
      {row.retry_count > 0 ? t("message.again") : t("message.due")} <Time at={due} as="relative" />
    </span>
  );
}

function firstLine(text: string): string {
  return text.trimStart().split("\n", 1)[0]?.slice(0, 400) ?? "";
}
