// What has been running longest, against what it usually takes.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Panel } from "../../parts/Panel";
import { ProgressBar } from "../../parts/ProgressBar";
import { Length } from "../../parts/Time";
import { lengthOf } from "../../time/format";

export function LongRunning() {
  const { t } = useTranslation("overview");
  const running = useGet("/api/v1/stats/long-running", { query: { minutes: 0, limit: 6 } });
  const items = running.data?.items ?? [];
  return (
    <Panel boxed title={t("running.title")} refusal={running.error} waiting={!running.data}>
      {items.length === 0 ? (
        <p className="quiet">{t("running.none")}</p>
      ) : (
        <table className="rows">
          <tbody>
            {items.map((one) => (
              <tr key={one.instance_id}>
                <td className="rows-name">
                  <Link to="/instances/$id" params={{ id: String(one.instance_id) }}>
                    {one.task_name}
                  </Link>
                  {one.phase && <div className="dim rows-cut">{one.phase}</div>}
                </td>
                <td className="rows-progress">
                  {one.progress !== null && (
                    <ProgressBar fraction={one.progress} label={t("running.progress", { task: one.task_name })} />
                  )}
                </td>
                <td className="rows-number">
                  <Length from={one.start_time} />
                  <div className="dim">
                    {one.median_ms === null
                      ? t("running.first")
                      : t("running.usual", { length: lengthOf(one.median_ms) })}
                  </div>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
