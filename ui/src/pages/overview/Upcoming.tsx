// What fires next.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Panel } from "../../parts/Panel";
import { useNotes } from "../../parts/notes";
import { Time } from "../../parts/Time";

export function Upcoming() {
  const { t } = useTranslation("overview");
  const told = useNotes();
  const upcoming = useGet("/api/v1/schedules/upcoming", { query: { limit: 8 } });
  const items = upcoming.data?.items ?? [];
  return (
    <Panel
      boxed
      title={t("upcoming.title")}
      aside={<Link to="/calendar">{t("upcoming.all")}</Link>}
      refusal={upcoming.error}
      waiting={!upcoming.data}
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
                  {one.note && <div className="dim rows-cut">{told(one.note, one.timezone)}</div>}
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
