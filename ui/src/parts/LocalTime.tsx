// A time to choose, by the clock of a zone that is named beside it. The browser's own field: light, and known to keys.
import { Input } from "antd";
import type { AriaAttributes } from "react";

import { instantAt, wallClock } from "../time/local";

type Props = AriaAttributes & {
  id?: string;
  value: string | null;
  onChange: (value: string | null) => void;
  zone: string;
  label?: string;
  status?: "error" | "";
  seconds?: boolean;
  disabled?: boolean;
  placeholder?: string;
};

export function LocalTime({ value, onChange, zone, label, seconds = false, ...rest }: Props) {
  const at = value === null ? NaN : Date.parse(value);
  return (
    <Input
      {...rest}
      type="datetime-local"
      step={seconds ? 1 : undefined}
      aria-label={label}
      suffix={<span className="zone">{zone}</span>}
      defaultValue={Number.isNaN(at) ? "" : wallClock(new Date(at), zone, { seconds })}
      key={zone}
      onChange={(event) => onChange(instantAt(event.target.value, zone)?.toISOString() ?? null)}
    />
  );
}
