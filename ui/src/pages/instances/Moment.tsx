// An instant in a row, as short as can be; by all clocks when pointed at. Plain, since a screen has a hundred of them.
import { useTranslation } from "react-i18next";

import { usePreferences } from "../../state/preferences";
import { browserZone, partsIn } from "../../time/format";

const YEAR = new Date().getFullYear();

export function Moment({ at, zone }: { at: string | null; zone: string | undefined }) {
  const { clock } = usePreferences();
  const { t } = useTranslation("instances");
  if (at === null) return <span className="dim">–</span>;
  const shown = clock === "utc" ? "UTC" : clock === "task" && zone ? zone : browserZone();
  const instant = new Date(at);
  const parts = partsIn(instant, shown);
  const recent = parts.date.startsWith(String(YEAR));
  return (
    <time dateTime={at} className="time" title={t("clocks", { times: by(instant, [shown, zone, "UTC"]) })}>
      <span className="dim">{recent ? parts.date.slice(5) : parts.date}</span>{" "}
      {recent ? parts.clock : parts.clock.slice(0, 5)}
    </time>
  );
}

function by(instant: Date, zones: (string | undefined)[]): string {
  const each = [...new Set(zones.filter((zone) => zone !== undefined))];
  return each
    .map((zone) => {
      const { date, clock } = partsIn(instant, zone);
      return `${date} ${clock} ${zone}`;
    })
    .join("\n");
}
