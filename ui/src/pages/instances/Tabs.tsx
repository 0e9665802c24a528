// Which status, with how many there are where that is cheap to know.
import { Segmented } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { Filters } from "../../state/url";
import { NAMES, STATUSES } from "./wanted";

type Props = { filters: Filters; change: (change: Record<string, string | null>) => void };

export function Tabs({ filters, change }: Props) {
  const { t } = useTranslation("instances");
  // The figures know of groups only: with any other filter they would be those of another list.
  const countable = NAMES.every((name) => name === "status" || name === "group" || !filters[name]);
  const figures = useGet(
    "/api/v1/stats/overview",
    { query: { hours: 24, ...(filters.group ? { group: filters.group } : {}) } },
    { enabled: countable, keep: true },
  );
  const now = countable ? figures.data : undefined;
  const counts: Record<string, number | undefined> = {
    failed: now?.failed,
    running: now?.running,
    pending: now && now.pending_due + now.pending_later,
    planned: now?.planned,
  };
  const label = (status: string) => {
    const count = counts[status];
    if (!count) return t(`tab.${status}`);
    return (
      <span title={status === "failed" ? t("inADay", { count }) : undefined}>
        {t(`tab.${status}`)} <span className={`instances-count instances-count-${status}`}>{count}</span>
        {status === "failed" && <span className="instances-day"> {t("day")}</span>}
      </span>
    );
  };
  return (
    <div className="instances-tabs">
      <Segmented
        value={filters.status ?? ""}
        aria-label={t("column.status")}
        onChange={(status) => change({ status })}
        options={[
          { value: "", label: t("tab.all") },
          ...STATUSES.map((status) => ({ value: status, label: label(status) })),
        ]}
      />
    </div>
  );
}
