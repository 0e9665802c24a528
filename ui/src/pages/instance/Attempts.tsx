// Each attempt, newest first: how it went, where, when; one that is clicked is the only one in the log.
import { Button } from "antd";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { Length, Time } from "../../parts/Time";
import { useFilters } from "../../state/url";

type Attempt = components["schemas"]["Attempt"];

export function Attempts({ attempts, zone }: { attempts: readonly Attempt[]; zone: string | null }) {
  const { t } = useTranslation("instance");
  const [filters, change] = useFilters();
  if (attempts.length === 0) return null;
  return (
    <section className="instance-part">
      <h2>{t("attempts", { count: attempts.length })}</h2>
      <ol className="instance-attempts" reversed>
        {attempts.toReversed().map((attempt, index) => {
          const chosen = filters.attempt === String(attempt.fence);
          const outcome = attempt.outcome ?? "running";
          return (
            <li
              key={`${attempt.fence} ${attempt.start_time ?? ""}`}
              className={chosen ? "instance-attempt-chosen" : ""}
            >
              <div className="instance-attempt-head">
                <span className="number">{attempts.length - index}</span>
                <span className={`instance-outcome instance-outcome-${outcome}`}>{t(`outcome.${outcome}`)}</span>
                <Time at={attempt.start_time} zone={zone} as="clock" />
                <Length from={attempt.start_time} to={attempt.end_time} />
              </div>
              <div className="instance-attempt-foot">
                <span className="dim">{attempt.executor_id}</span>
                <Button
                  size="small"
                  type="link"
                  aria-pressed={chosen}
                  onClick={() => change({ attempt: chosen ? null : String(attempt.fence), line: null, to: null })}
                >
                  {chosen ? t("wholeLog") : t("itsLog")}
                </Button>
              </div>
              {attempt.error_message && <div className="instance-attempt-error">{attempt.error_message}</div>}
            </li>
          );
        })}
      </ol>
    </section>
  );
}
