// Where work waits: each group with what it has to do and who could do it.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { Panel } from "../../parts/Panel";

export function Groups({ groups }: { groups: readonly components["schemas"]["GroupStanding"][] }) {
  const { t, i18n } = useTranslation("overview");
  const number = new Intl.NumberFormat(i18n.language);
  const sorted = [...groups].sort((one, other) => other.pending_due - one.pending_due || other.running - one.running);
  return (
    <Panel boxed title={t("groups.title")}>
      <div className="rows-scroll">
        <table className="rows">
          <thead>
            <tr>
              <th>{t("groups.group")}</th>
              <th className="rows-number">{t("groups.due")}</th>
              <th className="rows-number">{t("groups.later")}</th>
              <th className="rows-number">{t("groups.planned")}</th>
              <th className="rows-number">{t("groups.running")}</th>
              <th className="rows-number">{t("groups.executors")}</th>
              <th className="rows-number">{t("groups.failed")}</th>
            </tr>
          </thead>
          <tbody>
            {sorted.map((one) => (
              <tr key={one.group}>
                <td>
                  <Link to="/executors" search={{ group: one.group }}>
                    {one.group}
                  </Link>
                </td>
                <td className="rows-number">
                  <Link to="/instances" search={{ group: one.group, status: "pending" }}>
                    {number.format(one.pending_due)}
                  </Link>
                </td>
                <td className="rows-number">{number.format(one.pending_later)}</td>
                <td className="rows-number">{number.format(one.planned)}</td>
                <td className="rows-number">
                  {number.format(one.running)} / {number.format(one.capacity)}
                </td>
                <td className={`rows-number ${one.executors === 0 && one.pending_due > 0 ? "tone-bad" : ""}`}>
                  {number.format(one.executors)}
                </td>
                <td className="rows-number">
                  <Link to="/instances" search={{ group: one.group, status: "failed" }}>
                    {number.format(one.failed)}
                  </Link>
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </Panel>
  );
}
