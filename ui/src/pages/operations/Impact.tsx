// What the whole plan costs, and who is in its way now.
import { useTranslation } from "react-i18next";

import { bytesOf, countOf } from "./figures";
import { DIALECTS } from "./kinds";
import { stopsOf, type Preview } from "./plan";

export function Impact({ preview }: { preview: Preview }) {
  const { t } = useTranslation("operations");
  const { impact } = preview;
  const stops = stopsOf(impact.strongest_lock);
  const unknown = <span className="dim">{t("impact.unknown")}</span>;
  return (
    <section className="operations-panel" aria-label={t("impact.title")}>
      <h2>{t("impact.title")}</h2>
      <dl className="operations-facts">
        <dt>{t("impact.where")}</dt>
        <dd>
          {preview.data_source} <span className="dim">{DIALECTS[preview.dialect]}</span>
        </dd>
        <dt>{t("impact.lock")}</dt>
        <dd>
          {impact.strongest_lock === null ? (
            t("stops.nobody")
          ) : (
            <>
              <span className={`operations-dot operations-stops operations-stops-${stops}`}>{t(`stops.${stops}`)}</span>
              <div className="dim">{impact.strongest_lock}</div>
            </>
          )}
        </dd>
        <dt>{t("impact.rows")}</dt>
        <dd className="number">{impact.rows === null ? unknown : countOf(impact.rows)}</dd>
        <dt>{t("impact.size")}</dt>
        <dd className="number">{impact.bytes === null ? unknown : bytesOf(impact.bytes)}</dd>
        <dt>{t("impact.room")}</dt>
        <dd className="number">{impact.disk_bytes === null ? unknown : bytesOf(impact.disk_bytes)}</dd>
        <dt>{t("impact.plan")}</dt>
        <dd className="mono operations-hash">{preview.plan_hash}</dd>
      </dl>
      <h3>{t("impact.blockers")}</h3>
      {impact.blockers.length === 0 ? (
        <p className="dim">{t("impact.noBlockers")}</p>
      ) : (
        <table className="rows">
          <thead>
            <tr>
              <th scope="col">{t("impact.session")}</th>
              <th scope="col">{t("impact.who")}</th>
              <th scope="col">{t("impact.doing")}</th>
            </tr>
          </thead>
          <tbody>
            {impact.blockers.map((one) => (
              <tr key={one.session}>
                <td className="rows-fixed">{one.session}</td>
                <td>{one.who}</td>
                <td className="mono">{one.doing}</td>
              </tr>
            ))}
          </tbody>
        </table>
      )}
    </section>
  );
}
