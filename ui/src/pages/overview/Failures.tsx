// What failed: by the time of its end, or by reason; from each it is one click to the failing line.
import { Link } from "@tanstack/react-router";
import { Segmented } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { Panel } from "../../parts/Panel";
import { Time } from "../../parts/Time";
import { useFilters } from "../../state/url";
import { fewOfEach } from "./few";

const ROWS = 10;
/** So many are looked at, so that others are found behind those of a task that fails all the time. */
const LOOKED_AT = 100;
const OF_A_TASK = 3;

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
  const failed = useGet("/api/v1/instances", { query: { status: "failed", limit: LOOKED_AT } });
  const items = fewOfEach(failed.data?.items ?? [], OF_A_TASK, ROWS);
  // More may lie behind what was looked at.
  const open = failed.data?.next_cursor != null;
  return (
    <Panel boxed title={t("failures.title")} aside={choice} refusal={failed.error} waiting={!failed.data}>
      {items.length === 0 ? (
        <p className="quiet">{t("failures.none")}</p>
      ) : (
        <table className="rows">
          <tbody>
            {items.map((few) =>
              "one" in few ? (
                <Failure key={few.one.id} one={few.one} />
              ) : (
                <tr key={`more ${few.task.task_id}`}>
                  <td />
                  <td colSpan={2}>
                    <Link to="/instances" search={{ status: "failed", task_id: String(few.task.task_id) } as never}>
                      {t(open ? "failures.moreAtLeast" : "failures.more", {
                        count: few.more,
                        task: few.task.task_name,
                      })}
                    </Link>
                  </td>
                </tr>
              ),
            )}
          </tbody>
        </table>
      )}
      <Link to="/instances" search={{ status: "failed" }}>
        {t("failures.all")}
      </Link>
    </Panel>
  );
}

function Failure({ one }: { one: components["schemas"]["Instance"] }) {
  const { t } = useTranslation("overview");
  return (
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
  );
}

function ByReason({ choice }: { choice: React.ReactNode }) {
  const { t, i18n } = useTranslation("overview");
  const reasons = useGet("/api/v1/stats/failures", { query: { days: 1, limit: ROWS } });
  const number = new Intl.NumberFormat(i18n.language);
  const items = reasons.data?.items ?? [];
  return (
    <Panel boxed title={t("failures.title")} aside={choice} refusal={reasons.error} waiting={!reasons.data}>
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
