// The end: that it was verified, in how long, and the figures it summed up.
import { CheckCircleFilled } from "@ant-design/icons";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { Json } from "../../parts/Json";
import { lengthOf } from "../../time/format";
import { factsOf } from "./figures";

type Instance = components["schemas"]["Instance"];

export function End({ instance }: { instance: Instance }) {
  const { t } = useTranslation("operations");
  const { facts, rest } = factsOf(instance.summary);
  const undo = instance.summary?.undo !== undefined && instance.summary.undo !== null;
  const dry = instance.summary?.dry_run === true;
  return (
    <section className="operations-end" aria-label={t("end.title")} aria-live="polite">
      <h2>
        <CheckCircleFilled aria-hidden /> {dry ? t("end.dry") : t("end.done")}
        {instance.duration_ms !== null && (
          <span className="dim"> {t("end.took", { length: lengthOf(instance.duration_ms) })}</span>
        )}
      </h2>
      {facts.length > 0 && (
        <dl className="operations-facts">
          {facts.flatMap(({ name, text }) => [
            <dt key={`${name} name`}>{name}</dt>,
            <dd key={name} className="number">
              {text}
            </dd>,
          ])}
        </dl>
      )}
      {Object.keys(rest).length > 0 && (
        <details>
          <summary>{t("end.more")}</summary>
          <Json value={rest} label={t("end.more")} />
        </details>
      )}
      <p className="dim">{undo ? t("end.undo") : t("end.noUndo")}</p>
    </section>
  );
}
