// Beside the grid: which tasks fire most often, and what rests meanwhile.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { Time } from "../../parts/Time";
import type { Rest } from "./cells";

type Props = { busiest: readonly components["schemas"]["BusyTask"][]; rests: readonly Rest[] };

export function Beside({ busiest, rests }: Props) {
  const { t, i18n } = useTranslation("calendar");
  const number = new Intl.NumberFormat(i18n.language);
  return (
    <aside className="calendar-beside">
      <section aria-label={t("busiest")}>
        <h2>{t("busiest")}</h2>
        {busiest.length === 0 && <p className="dim">{t("busiestNone")}</p>}
        <table className="rows">
          <tbody>
            {busiest.map((one) => (
              <tr key={one.task_id}>
                <td className="rows-text">
                  <Link to="/tasks/$id" params={{ id: String(one.task_id) }} title={one.task_name}>
                    {one.task_name}
                  </Link>
                </td>
                <td className="rows-number">{number.format(one.count)} ×</td>
              </tr>
            ))}
          </tbody>
        </table>
      </section>
      <section aria-label={t("rests")}>
        <h2>
          {t("rests")} <Link to="/pauses">{t("restsAll")}</Link>
        </h2>
        {rests.length === 0 && <p className="dim">{t("restsNone")}</p>}
        <ul>
          {rests.map((rest) => (
            <li key={rest.key}>
              <strong>{t(`scope.${rest.scope}`, { name: rest.of ?? "" })}</strong>
              <span className="dim"> {t(`kind.${rest.kind}`)}</span>
              <div className="calendar-reason">{rest.name}</div>
              <div className="dim">
                <Time at={new Date(rest.from).toISOString()} seconds={false} />
                {" – "}
                {rest.to === null ? t("endless") : <Time at={new Date(rest.to).toISOString()} seconds={false} />}
              </div>
            </li>
          ))}
        </ul>
      </section>
    </aside>
  );
}
