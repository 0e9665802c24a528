// From when to when, by the clock that the page shows.
import { useTranslation } from "react-i18next";

import { LocalTime } from "../../parts/LocalTime";
import { useZone } from "../../time/zone";

type Props = {
  from?: string;
  to?: string;
  onChange: (change: { from?: string | null; to?: string | null }) => void;
};

export function Between({ from, to, onChange }: Props) {
  const { t } = useTranslation("audit");
  const zone = useZone();
  return (
    <div className="audit-between" role="group" aria-label={t("between")}>
      <span>
        {t("from")}
        <LocalTime label={t("from")} zone={zone} value={from ?? null} onChange={(at) => onChange({ from: at })} />
      </span>
      <span>
        {t("to")}
        <LocalTime label={t("to")} zone={zone} value={to ?? null} onChange={(at) => onChange({ to: at })} />
      </span>
    </div>
  );
}
