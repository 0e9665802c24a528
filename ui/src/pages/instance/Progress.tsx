// How far it has come, and how long it still takes.
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { ProgressBar } from "../../parts/ProgressBar";
import { Length } from "../../parts/Time";
import { lengthOf } from "../../time/format";
import { useNow } from "../../time/now";
import { etaOf } from "./eta";

type Instance = components["schemas"]["Instance"];

export function Progress({ instance }: { instance: Instance }) {
  const { t } = useTranslation("instance");
  const now = useNow();
  const stats = useGet("/api/v1/stats/tasks", { query: { ids: String(instance.task_id), last: 1 } }, { every: false });
  const usual = stats.data?.items[0]?.median_ms ?? null;
  const elapsed = instance.start_time === null ? 0 : Math.max(0, now - Date.parse(instance.start_time));
  const { fraction, by, left, over } = etaOf(elapsed, instance.progress, usual);
  return (
    <section className="instance-progress" aria-label={t("progress")}>
      {fraction !== null && (
        <ProgressBar
          className={by === "median" ? "instance-bar-guess" : ""}
          fraction={fraction}
          showInfo={by === "progress"}
          label={t("progress")}
        />
      )}
      <div className="instance-progress-words">
        {instance.phase !== null && <strong>{instance.phase}</strong>}
        <span>
          {t("runningFor")} <Length from={instance.start_time} />
        </span>
        {left !== null && <span>{t("left", { length: lengthOf(left) })}</span>}
        {usual !== null && <span className="dim">{t("usually", { length: lengthOf(usual) })}</span>}
        {over !== null && <span className="instance-over">{t("over", { length: lengthOf(over) })}</span>}
      </div>
    </section>
  );
}
