// A time zone to choose: all that the browser knows, with what their clocks are ahead by.
import { Select } from "antd";

const zones = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((zone) => zone !== "UTC")];

function ahead(zone: string): string {
  const parts = new Intl.DateTimeFormat("en", { timeZone: zone, timeZoneName: "longOffset" }).formatToParts(new Date());
  return parts.find((part) => part.type === "timeZoneName")?.value.replace("GMT", "UTC") ?? "";
}

type Props = { id?: string; value?: string; onChange?: (zone: string) => void; label?: string };

export function ZoneSelect({ id, value, onChange, label }: Props) {
  return (
    <Select<string>
      id={id}
      showSearch
      value={value}
      onChange={onChange}
      aria-label={label}
      options={zones.map((zone) => ({ value: zone, label: zone }))}
      optionRender={({ value: zone }) => (
        <span className="zone-option">
          {zone} <span className="dim">{ahead(String(zone))}</span>
        </span>
      )}
    />
  );
}
