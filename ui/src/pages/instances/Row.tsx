// One instance: a row, or a card where there is no room for one.
import { Link } from "@tanstack/react-router";
import { Button, Checkbox } from "antd";
import { memo, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { Status } from "../../parts/Status";
import { Length } from "../../parts/Time";
import type { Column } from "./columns";
import type { Instance } from "./feed";
import { Message } from "./Message";
import { Moment } from "./Moment";
import { canCancel, canRetry } from "./wanted";

export type Deeds = {
  select: (row: Instance, on: boolean, range: boolean) => void;
  retry: (row: Instance) => void;
  cancel: (row: Instance) => void;
};

type Props = {
  id: number;
  row: Instance | null;
  index: number;
  top: number;
  /** None: a card. */
  columns: readonly Column[] | null;
  zone: string | undefined;
  selected: boolean;
  deeds: Deeds | null;
};

export const Row = memo(function Row({ id, row, index, top, columns, zone, selected, deeds }: Props) {
  const style = { transform: `translateY(${top}px)` };
  const place = { role: "row", "aria-rowindex": index + 2, style };
  if (row === null) {
    return (
      <div {...place} className={columns ? "instances-row" : "instances-card"}>
        <span role="cell" className="dim">
          #{id} …
        </span>
      </div>
    );
  }
  const kind = `${columns ? "instances-row" : "instances-card"}${selected ? " instances-selected" : ""}`;
  const check = deeds && (
    <span role="cell" className="instances-check">
      <Select row={row} selected={selected} deeds={deeds} />
    </span>
  );
  const act = deeds && (
    <span role="cell" className="instances-act">
      <Act row={row} deeds={deeds} />
    </span>
  );
  if (columns === null) {
    return (
      <div {...place} className={kind}>
        {check}
        <span role="cell" className="instances-card-body">
          <span className="instances-card-line">
            <Cell name="status" row={row} zone={zone} /> <Cell name="id" row={row} zone={zone} />
            <span className="grow" />
            <Cell name={row.end_time ? "ended" : row.start_time ? "started" : "scheduled"} row={row} zone={zone} />
          </span>
          <span className="instances-card-line">
            <Cell name="task" row={row} zone={zone} />
            <span className="grow" />
            <Cell name="duration" row={row} zone={zone} />
          </span>
          <span className="instances-card-line">
            <Message row={row} />
          </span>
        </span>
        {act}
      </div>
    );
  }
  return (
    <div {...place} className={kind}>
      {check}
      {columns.map(({ name, number }) => (
        <span key={name} role="cell" className={number ? "instances-number" : undefined}>
          <Cell name={name} row={row} zone={zone} />
        </span>
      ))}
      {act}
    </div>
  );
});

function Cell({ name, row, zone }: { name: string; row: Instance; zone: string | undefined }): ReactNode {
  const { t } = useTranslation("instances");
  switch (name) {
    case "status":
      return <Status status={row.status} skipped={row.skip_reason} />;
    case "id":
      return (
        <Link to="/instances/$id" params={{ id: String(row.id) }} className="number">
          #{row.id}
        </Link>
      );
    case "task":
      return (
        <Link to="/tasks/$id" params={{ id: String(row.task_id) }} className="instances-task" title={row.task_name}>
          {row.task_name}
        </Link>
      );
    case "message":
      return <Message row={row} />;
    case "scheduled":
      return <Moment at={row.scheduled_time} zone={zone} />;
    case "started":
      return <Moment at={row.start_time} zone={zone} />;
    case "ended":
      return <Moment at={row.end_time} zone={zone} />;
    case "duration":
      return <Length ms={row.duration_ms} from={row.start_time} to={row.end_time} />;
    case "attempts":
      return (
        <span className="number" title={t("attempts", { retries: row.retry_count, losses: row.loss_count })}>
          {row.start_time === null && row.retry_count === 0 ? 0 : row.retry_count + row.loss_count + 1}
        </span>
      );
    case "group":
      return <span title={row.group}>{row.group}</span>;
    case "executor":
      return <span title={row.executor_id ?? undefined}>{row.executor_id ?? <span className="dim">–</span>}</span>;
    case "triggered":
      return <span title={row.requested_by ?? undefined}>{t(`trigger.${row.triggered_by}`)}</span>;
    default:
      return <span className="number">{row.priority}</span>;
  }
}

function Select({ row, selected, deeds }: { row: Instance; selected: boolean; deeds: Deeds }) {
  const { t } = useTranslation("instances");
  return (
    <Checkbox
      checked={selected}
      aria-label={t("select", { id: row.id })}
      onChange={(event) => deeds.select(row, event.target.checked, event.nativeEvent.shiftKey)}
    />
  );
}

function Act({ row, deeds }: { row: Instance; deeds: Deeds }) {
  const { t } = useTranslation("instances");
  if (canRetry(row)) {
    return (
      <Button size="small" aria-label={t("retryOne", { id: row.id })} onClick={() => deeds.retry(row)}>
        {t("retry")}
      </Button>
    );
  }
  if (!canCancel(row)) return null;
  return (
    <Button size="small" aria-label={t("cancelOne", { id: row.id })} onClick={() => deeds.cancel(row)}>
      {t("cancel")}
    </Button>
  );
}
