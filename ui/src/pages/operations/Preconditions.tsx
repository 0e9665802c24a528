// What must hold, or nothing is executed; what does not hold comes first, with what would help.
import { CheckCircleFilled, CloseCircleFilled, QuestionCircleFilled } from "@ant-design/icons";
import { useTranslation } from "react-i18next";

import { hindrances, type Preview } from "./plan";
import { usePlanWords } from "./words";

export function Preconditions({ preview }: { preview: Preview }) {
  const { t } = useTranslation("operations");
  const say = usePlanWords();
  const { certain, perhaps } = hindrances(preview);
  const met = preview.preconditions.filter(({ ok }) => ok);
  const rows = [
    ...certain.map((one) => ({ ...one, state: "unmet" as const })),
    ...perhaps.map((one) => ({ ...one, state: "perhaps" as const })),
    ...met.map((one) => ({ ...one, state: "met" as const })),
  ];
  return (
    <section className="operations-panel" aria-label={t("preconditions.title")}>
      <h2>
        {t("preconditions.title")}{" "}
        {certain.length > 0 && (
          <span className="operations-bad">{t("preconditions.unmet", { count: certain.length })}</span>
        )}
      </h2>
      {rows.length === 0 && <p className="dim">{t("preconditions.none")}</p>}
      <ul className="operations-conditions">
        {rows.map((one) => (
          <li key={`${one.side} ${one.name}`} className={`operations-condition-${one.state}`}>
            {one.state === "met" ? (
              <CheckCircleFilled aria-label={t("preconditions.met")} />
            ) : one.state === "unmet" ? (
              <CloseCircleFilled aria-label={t("preconditions.notMet")} />
            ) : (
              <QuestionCircleFilled aria-label={t("preconditions.perhaps")} />
            )}
            <span>
              <strong>{say.precondition(one.name)}</strong>
              {one.side !== "source" && <span className="dim"> ({t(`side.${one.side}`)})</span>}: {one.detail}
            </span>
          </li>
        ))}
      </ul>
      {perhaps.length > 0 && <p className="dim">{t("preconditions.perhapsHelp")}</p>}
    </section>
  );
}
