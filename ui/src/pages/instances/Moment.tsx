// An instant in a row, as short as can be; by all clocks when pointed at. Plain, since a screen has a hundred of them.
import { partsIn } from "../../time/format";

const YEAR = String(new Date().getFullYear());

export function Moment({ at, zone, own }: { at: string | null; zone: string; own: string | undefined }) {
  if (at === null) return <span className="dim">–</span>;
  const instant = new Date(at);
  const parts = partsIn(instant, zone);
  const recent = parts.date.startsWith(YEAR);
  return (
    <time
      dateTime={at}
      className="time"
      onMouseEnter={(event) => {
        event.currentTarget.title = by(instant, [zone, own ?? zone, "UTC"]);
      }}
    >
      <span className="dim">{recent ? parts.date.slice(5) : parts.date}</span>{" "}
      {recent ? parts.clock : parts.clock.slice(0, 5)}
    </time>
  );
}

function by(instant: Date, zones: string[]): string {
  return [...new Set(zones)]
    .map((zone) => {
      const { date, clock } = partsIn(instant, zone);
      return `${date} ${clock} ${zone}`;
    })
    .join("\n");
}
