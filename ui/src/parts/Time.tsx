// An instant: short in the row, whole (and by other clocks) when pointed at.
import { Tooltip } from "antd";
import { useTranslation } from "react-i18next";

import { browserZone, lengthOf, partsIn, relative } from "../time/format";
import { useNow } from "../time/now";
import { useZone } from "../time/zone";

type Props = {
  at: string | null | undefined;
  /** The zone of the task it belongs to. */
  zone?: string | null;
  /** How it is written: date and time (default), time alone, or how long ago. */
  as?: "full" | "clock" | "relative";
  seconds?: boolean;
};

export function Time({ at, zone, as = "full", seconds = true }: Props) {
  const shown = useZone(zone);
  if (!at) return <span className="dim">–</span>;
  const instant = new Date(at);
  const parts = partsIn(instant, shown, { seconds });
  const zones = [...new Set([shown, ...(zone ? [zone] : []), "UTC", browserZone()])];
  return (
    <Tooltip title={<Clocks instant={instant} zones={zones} />} mouseEnterDelay={0.4}>
      <time dateTime={at} className="time">
        {as === "relative" ? (
          <Relative instant={instant} />
        ) : (
          <>
            {as === "full" && `${parts.date} `}
            {parts.clock} <span className="zone">{parts.zone}</span>
          </>
        )}
      </time>
    </Tooltip>
  );
}

function Clocks({ instant, zones }: { instant: Date; zones: string[] }) {
  return (
    <table className="clocks">
      <tbody>
        {zones.map((zone) => {
          const parts = partsIn(instant, zone);
          return (
            <tr key={zone}>
              <td>{zone}</td>
              <td>
                {parts.date} {parts.clock}
              </td>
            </tr>
          );
        })}
        <tr>
          <td colSpan={2}>
            <Relative instant={instant} />
          </td>
        </tr>
      </tbody>
    </table>
  );
}

function Relative({ instant }: { instant: Date }) {
  const { i18n } = useTranslation();
  return <>{relative(instant, new Date(useNow()), i18n.language)}</>;
}

/** How long something took, or takes so far. */
export function Length({ ms, from, to }: { ms?: number | null; from?: string | null; to?: string | null }) {
  if (ms !== null && ms !== undefined) return <span className="number">{lengthOf(ms)}</span>;
  if (!from) return <span className="dim">–</span>;
  if (to) return <span className="number">{lengthOf(Date.parse(to) - Date.parse(from))}</span>;
  return <Running from={from} />;
}

function Running({ from }: { from: string }) {
  return <span className="number">{lengthOf(useNow() - Date.parse(from))}</span>;
}
