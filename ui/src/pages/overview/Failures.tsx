// What failed: by the time of its end, or by reason; from each it is one click to the failing line.
import { Link } from "@tanstack/react-router";
import { Segmented } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Time } from "../../parts/Time";
import { useFilters } from "../../state/url";
import { Panel } from "./Panel";

const ROWS = 10;

export function Failures() {
  const { t } = useTranslation("overview");
  const [filters, change] = useFilters();
  const byReason = filters.failures === "reason";
  const choice = (
    <Segmented
      size="small"
      value={byReason ? "reason" : "time"}
      aria-label={t("failures.by")}
      onChange={(chosen) => change({ failures: chosen === "reason" ? "reason" : null })}
      options={[
        { value: "time", label: t("failures.byTime") },
        { value: "reason", label: t("failures.byReason") },
      ]}
    />
  );
  return byReason ? <ByReason choice={choice} /> : <ByTime choice={choice} />;
}

function ByTime({ choice }: { choice: React.ReactNode }) {
  const { t } = useTranslation("overview");
  const failed = useGet("/api/v1/instances", { query: { status: "failed", limit: ROWS } });
  const items = failed.data?.items ?? [];
  return (
    <Panel title={t("failures.title")} more={choice} refusal={failed.error} waiting={failed.isPending}>
      {items.length === 0 ? (
        <p className="quiet">{t("failures.none")}</p>
      ) : (
        <table className="rows">
          <tbody>
            {items.map((one) => (
              <tr key={one.id}>
                <td className="rows-fixed">
                  <Time at={one.end_time} as="relative" />
                </td>
                <td className="rows-name">
                  <Link to="/tasks/$id" params={{ id: String(one.task_id) }}>
                    {one.task_name}
                  </Link>
                </td>
                <td className="rows-text">
                  <Link
                    to="/instances/$id"
                    params={{ id: String(one.id) }}
                    search={{ log: "errors" }}
                    className="failure"
                    title={one.error_message ?? undefined}
                  >
                    {one.error_message ?? t("failures.silent")}
                  </Link>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
      <Link to="/instances" search={{ status: "failed" }}>
        {t("failures.all")}
      </Link>
    </Panel>
  );
}

function ByReason({ choice }: { choice: React.ReactNode }) {
  const { t, i18n } = useTranslation("overview");
  const reasons = useGet("/api/v1/stats/failures", { query: { days: 1, limit: ROWS } });
  const number = new Intl.NumberFormat(i18n.language);
  const items = reasons.data?.items ?? [];
  return (
    <Panel title={t("failures.title")} more={choice} refusal={reasons.error} waiting={reasons.isPending}>
      {items.length === 0 ? (
        <p className="quiet">{t("failures.noneToday")}</p>
      ) : (
        <table className="rows">
          <tbody>
            {items.map((one) => (
              <tr key={`${one.type} ${one.operation_kind ?? ""} ${one.reason}`}>
                <td className="rows-number">{number.format(one.count)} ×</td>
                <td className="rows-text">
                  {one.instance_id === null ? (
                    one.reason
                  ) : (
                    <Link
                      to="/instances/$id"
                      params={{ id: String(one.instance_id) }}
                      search={{ log: "errors" }}
                      className="failure"
                      title={one.reason}
                    >
                      {one.reason}
                    </Link>
                  )}
                </td>
                <td className="rows-name">
                  {one.tasks[0] && (
                    <Link to="/tasks/$id" params={{ id: String(one.tasks[0].id) }}>
                      {one.tasks[0].name}
                    </Link>
                  )}
                  {one.tasks.length > 1 && <span className="dim"> +{one.tasks.length - 1}</span>}
                </td>
                <td className="rows-fixed">
                  <Time at={one.last_seen} as="relative" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
