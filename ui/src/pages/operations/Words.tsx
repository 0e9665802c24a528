// What approving means, in sentences: who waits for what, for how long, and what is gone afterwards.
import { Alert } from "antd";
import { useTranslation } from "react-i18next";

import { meantOf, type Config } from "./config";
import { bytesOf, countOf } from "./figures";
import { hindrances, locksOf, type PlanStep, type Preview } from "./plan";
import { usePlanWords } from "./words";

type Props = { config: Config; preview: Preview; steps: readonly PlanStep[]; lost: readonly PlanStep[] };
const MOST = 12;

export function Words({ config, preview, steps, lost }: Props) {
  const { t } = useTranslation("operations");
  const say = usePlanWords();
  const locks = locksOf(steps);
  const { perhaps } = hindrances(preview);
  const { rows, disk_bytes: room, blockers } = preview.impact;
  const wait = preview.config.lock_timeout_ms;
  return (
    <>
      {lost.length > 0 && (
        <Alert
          type="error"
          showIcon
          className="operations-alert"
          title={t("lost.title", { count: lost.length })}
          description={
            <ul className="operations-list">
              {lost.slice(0, MOST).map((step) => (
                <li key={step.number}>
                  {step.step}
                  {step.rows !== null && (
                    <span className="number"> · {t("lost.rows", { rows: countOf(step.rows) })}</span>
                  )}
                </li>
              ))}
              {lost.length > MOST && <li>{t("lost.more", { count: lost.length - MOST })}</li>}
            </ul>
          }
        />
      )}
      <section className="operations-panel" aria-label={t("words.title")}>
        <h2>{t("words.title")}</h2>
        <ul className="operations-words">
          <li>
            <span className="mono operations-meant">{meantOf(config).join(" · ")}</span>
          </li>
          {preview.config.dry_run === true && <li>{t("preview.dryRun")}</li>}
          {steps.length === 0 && <li>{t("steps.none")}</li>}
          {locks.length === 0 && steps.length > 0 && <li>{t("words.noLocks")}</li>}
          {locks.slice(0, MOST).map(({ stops, step }) => (
            <li key={step.lock}>
              <span className={`operations-dot operations-stops operations-stops-${stops}`}>{t(`stops.${stops}`)}</span>
              {t("words.during", { step: step.step, long: t(`long.${step.duration}`) })}
              <div className="dim">{step.lock}</div>
            </li>
          ))}
          {locks.length > 0 && typeof wait === "number" && <li>{t("words.patience", { ms: countOf(wait) })}</li>}
          {blockers.length > 0 && (
            <li className="operations-bad">
              {t("words.blockers", { count: blockers.length, who: blockers.map((one) => one.session).join(", ") })}
            </li>
          )}
          {rows !== null && <li>{t("words.rows", { rows: countOf(rows) })}</li>}
          {room !== null && room > 0 && <li>{t("words.room", { size: bytesOf(room) })}</li>}
          {steps.some(({ cancellable }) => !cancellable) && <li>{t("words.uncancellable")}</li>}
          {perhaps.map((one) => (
            <li key={one.name} className="operations-bad">
              {t("words.perhaps", { name: say.precondition(one.name), detail: one.detail })}
            </li>
          ))}
        </ul>
      </section>
    </>
  );
}
