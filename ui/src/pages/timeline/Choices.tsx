// Which tasks, and which stretch of time.
import {
  CalendarOutlined,
  CloseOutlined,
  LeftOutlined,
  RightOutlined,
  ZoomInOutlined,
  ZoomOutOutlined,
} from "@ant-design/icons";
import { Button, Popover, Segmented, Select, Space } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { SearchText } from "../../parts/FilterBar";
import { PeriodEditor } from "../../parts/PeriodEditor";
import { useFilters } from "../../state/url";
import { partsIn } from "../../time/format";
import { useZone } from "../../time/zone";
import { LENGTHS, moved, zoomed, type Period } from "./period";

type Props = { period: Period; now: number; task: number | undefined; onPeriod: (period: Period) => void };

export function Choices({ period, now, task, onPeriod }: Props) {
  const { t } = useTranslation("timeline");
  const [filters, change] = useFilters();
  const [editing, setEditing] = useState(false);
  const groups = useGet("/api/v1/groups", {}, { every: 60_000 });
  const only = useGet(
    "/api/v1/tasks/{task_id}",
    { path: { task_id: task ?? 0 } },
    { enabled: task !== undefined, every: false },
  );
  const chosen = period.live ? (filters.from ?? LENGTHS[0]) : "";
  const around = period.live ? (now - period.from) / (period.to - period.from) : 0.5;
  return (
    <div className="timeline-filters" role="search" aria-label={t("filter.label")}>
      <SearchText label={t("filter.q")} value={filters.q ?? ""} onChange={(text) => change({ q: text })} />
      <Select
        allowClear
        showSearch
        value={filters.group}
        placeholder={t("filter.group")}
        aria-label={t("filter.group")}
        onChange={(name: string | undefined) => change({ group: name })}
        options={(groups.data?.items ?? []).map(({ name }) => ({ value: name, label: name }))}
      />
      {task !== undefined && (
        <Button icon={<CloseOutlined />} iconPlacement="end" onClick={() => change({ task: null })}>
          {t("only", { name: only.data?.name ?? `#${task}` })}
        </Button>
      )}
      <Segmented
        value={chosen}
        aria-label={t("period")}
        onChange={(length) => change({ from: length === LENGTHS[0] ? null : length, to: null })}
        options={LENGTHS.map((length) => ({ value: length, label: t("last", { length: length.slice(1) }) }))}
      />
      <Popover
        open={editing}
        onOpenChange={setEditing}
        trigger="click"
        placement="bottom"
        destroyOnHidden
        content={
          <PeriodEditor
            values={filters}
            onGive={(given) => {
              setEditing(false);
              change(given);
            }}
          />
        }
      >
        <Button icon={<CalendarOutlined />}>{period.live ? t("choose") : <Told period={period} />}</Button>
      </Popover>
      <Space.Compact>
        <Button icon={<LeftOutlined />} aria-label={t("earlier")} onClick={() => onPeriod(moved(period, -0.5))} />
        <Button
          icon={<ZoomInOutlined />}
          aria-label={t("nearer")}
          onClick={() => onPeriod(zoomed(period, around, 0.5))}
        />
        <Button
          icon={<ZoomOutOutlined />}
          aria-label={t("farther")}
          onClick={() => onPeriod(zoomed(period, around, 2))}
        />
        <Button icon={<RightOutlined />} aria-label={t("later")} onClick={() => onPeriod(moved(period, 0.5))} />
      </Space.Compact>
      {!period.live && <Button onClick={() => change({ from: null, to: null })}>{t("live")}</Button>}
    </div>
  );
}

function Told({ period }: { period: Period }) {
  const zone = useZone();
  const from = partsIn(new Date(period.from), zone);
  const to = partsIn(new Date(period.to), zone);
  return (
    <span className="number">
      {from.date.slice(5)} {from.clock} – {to.date === from.date ? "" : `${to.date.slice(5)} `}
      {to.clock}
    </span>
  );
}
