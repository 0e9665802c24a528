// What became of a test: who answered, how fast and as whom it knows us; or why nobody did.
import { CheckCircleFilled, CloseCircleFilled } from "@ant-design/icons";
import { useTranslation } from "react-i18next";

import { Time } from "../../parts/Time";
import { useTold } from "../../parts/told";
import { DIALECTS } from "../operations/kinds";
import type { Outcome } from "./testing";

export function Result({ outcome: { tested, refusal } }: { outcome: Outcome }) {
  const { t } = useTranslation("sources");
  const told = useTold();
  if (refusal) {
    return (
      <span className="sources-bad" role="status">
        {told.title(refusal)}: {told.detail(refusal)}
      </span>
    );
  }
  if (tested === null) return <span className="dim">{t("untested")}</span>;
  if (!tested.ok) {
    return (
      <span className="sources-result sources-bad" role="status">
        <CloseCircleFilled aria-hidden /> {tested.detail}
      </span>
    );
  }
  const latency = tested.latency_ms === null ? null : `${tested.latency_ms.toFixed(1)} ms`;
  return (
    <span className="sources-result" role="status">
      <CheckCircleFilled className="sources-good" aria-hidden /> {t("answers")}: {DIALECTS[tested.dialect]}{" "}
      {tested.version}
      {latency !== null && <span className="number"> · {latency}</span>}
      {tested.user !== null && ` · ${t("knownAs", { user: tested.user })}`}{" "}
      <span className="dim">
        <Time at={tested.at} as="clock" />
      </span>
    </span>
  );
}
