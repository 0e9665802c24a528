// What the colours mean, and how to come nearer.
import { useTranslation } from "react-i18next";

const SHOWN = ["running", "success", "failed", "cancelled"] as const;

/** `more`: how many instants to come were drawn, when there are more of them. */
export function Legend({ more }: { more: number }) {
  const { t } = useTranslation("timeline");
  return (
    <p className="timeline-legend dim">
      {SHOWN.map((status) => (
        <span key={status}>
          <i className={`timeline-bar timeline-${status}`} /> {t(`common:status.${status}`)}
        </span>
      ))}
      <span>
        <i className="timeline-mark" /> {more > 0 ? t("aheadMost", { count: more }) : t("ahead")}
      </span>
      <span className="timeline-how">{t("how")}</span>
    </p>
  );
}
