// One instance: a row, or a card where there is no room for one.
// Everything in it is plain: rows are made and thrown away with every turn of the wheel.
import type { TFunction } from "i18next";
import { memo, type ReactNode } from "react";

import { Goto } from "../../parts/Goto";
import { Mark } from "../../parts/Status";
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
  zone: string;
  /** The task's own zone, to be named when pointed at. */
  own: string | undefined;
  selected: boolean;
  deeds: Deeds | null;
  t: TFunction<"instances">;
};

export const Row = memo(function Row(props: Props) {
  const { id, row, index, top, columns, selected, deeds, t } = props;
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
  const told = { row, zone: props.zone, own: props.own, t };
  const check = deeds && (
    <span role="cell" className="instances-check">
      <Select row={row} selected={selected} deeds={deeds} t={t} />
    </span>
  );
  const act = deeds && (
    <span role="cell" className="instances-act">
      <Act row={row} deeds={deeds} t={t} />
    </span>
  );
  if (columns === null) {
    return (
      <div {...place} className={kind}>
        {check}
        <span role="cell" className="instances-card-body">
          <span className="instances-card-line">
            <Cell name="status" {...told} /> <Cell name="id" {...told} />
            <span className="grow" />
            <Cell name={row.end_time ? "ended" : row.start_time ? "started" : "scheduled"} {...told} />
          </span>
          <span className="instances-card-line">
            <Cell name="task" {...told} />
            <span className="grow" />
            <Cell name="duration" {...told} />
          </span>
          <span className="instances-card-line">
            <Message row={row} t={t} />
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
          <Cell name={name} {...told} />
        </span>
      ))}
      {act}
    </div>
  );
});

type Told = { row: Instance; zone: string; own: string | undefined; t: TFunction<"instances"> };

function Cell({ name, row, zone, own, t }: Told & { name: string }): ReactNode {
  switch (name) {
    case "status":
      return row.skip_reason ? (
        <Mark word="skipped" text={t("common:status.skipped")} />
      ) : (
        <Mark word={row.status} text={t(`common:status.${row.status}`)} />
      );
    case "id":
      return (
        <Goto href={`/instances/${row.id}`} className="number">
          #{row.id}
        </Goto>
      );
    case "task":
      return (
        <Goto href={`/tasks/${row.task_id}`} className="instances-task" title={row.task_name}>
          {row.task_name}
        </Goto>
      );
    case "message":
      return <Message row={row} t={t} />;
    case "scheduled":
      return <Moment at={row.scheduled_time} zone={zone} own={own} />;
    case "started":
      return <Moment at={row.start_time} zone={zone} own={own} />;
    case "ended":
      return <Moment at={row.end_time} zone={zone} own={own} />;
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

type Doing = { row: Instance; deeds: Deeds; t: TFunction<"instances"> };

function Select({ row, selected, deeds, t }: Doing & { selected: boolean }) {
  return (
    <input
      type="checkbox"
      className="instances-box-check"
      checked={selected}
      aria-label={t("select", { id: row.id })}
      onChange={(event) => deeds.select(row, event.target.checked, (event.nativeEvent as MouseEvent).shiftKey)}
    />
  );
}

function Act({ row, deeds, t }: Doing) {
  const retry = canRetry(row);
  if (!retry && !canCancel(row)) return null;
  return (
    <button
      type="button"
      className="instances-do"
      aria-label={retry ? t("retryOne", { id: row.id }) : t("cancelOne", { id: row.id })}
      onClick={() => (retry ? deeds.retry(row) : deeds.cancel(row))}
    >
      {retry ? t("retry") : t("cancel")}
    </button>
  );
}
