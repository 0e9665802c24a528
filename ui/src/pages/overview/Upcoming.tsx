// What fires next.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Time } from "../../parts/Time";
import { Panel } from "./Panel";

export function Upcoming() {
  const { t } = useTranslation("overview");
  const upcoming = useGet("/api/v1/schedules/upcoming", { query: { limit: 8 } });
  const items = upcoming.data?.items ?? [];
  return (
    <Panel
      title={t("upcoming.title")}
      more={<Link to="/calendar">{t("upcoming.all")}</Link>}
      refusal={upcoming.error}
      waiting={upcoming.isPending}
    >
      {items.length === 0 ? (
        <p className="quiet">{t("upcoming.none")}</p>
      ) : (
        <table className="rows">
          <tbody>
            {items.map((one) => (
              <tr key={`${one.task_id} ${one.at}`}>
                <td className="rows-name">
                  <Link to="/tasks/$id" params={{ id: String(one.task_id) }}>
                    {one.task_name}
                  </Link>
                  {one.note && <div className="dim rows-cut">{one.note}</div>}
                </td>
                <td className="rows-number">
                  <Time at={one.at} zone={one.timezone} as="clock" /> <span className="dim">·</span>{" "}
                  <Time at={one.at} zone={one.timezone} as="relative" />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </Panel>
  );
}
