// A time to choose, by the clock of a zone that is named beside it. The browser's own field: light, and known to keys.
import { Input } from "antd";

import { instantAt, wallClock } from "../time/local";

type Props = {
  id?: string;
  value: string | null;
  onChange: (value: string | null) => void;
  zone: string;
  label?: string;
  status?: "error" | "";
};

export function LocalTime({ id, value, onChange, zone, label, status }: Props) {
  return (
    <Input
      id={id}
      type="datetime-local"
      aria-label={label}
      status={status}
      suffix={<span className="zone">{zone}</span>}
      defaultValue={value === null || Number.isNaN(Date.parse(value)) ? "" : wallClock(new Date(value), zone)}
      key={zone}
      onChange={(event) => onChange(instantAt(event.target.value, zone)?.toISOString() ?? null)}
    />
  );
}
