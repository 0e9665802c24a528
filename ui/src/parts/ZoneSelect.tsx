// A time zone to choose: all that the browser knows, with what their clocks are ahead by. The reader's own comes first.
import { Select } from "antd";
import { useMemo, useState, type AriaAttributes } from "react";
import { useTranslation } from "react-i18next";

import { browserZone } from "../time/format";
import { allZones, callOf, citiesOf, matches, offsetOf } from "../time/zones";

type Props = AriaAttributes & {
  id?: string;
  value?: string;
  onChange?: (zone: string) => void;
  label?: string;
  status?: "error";
  className?: string;
};

export function ZoneSelect({ value = "UTC", onChange, label, ...rest }: Props) {
  const { t, i18n } = useTranslation("zones");
  const [opened, setOpened] = useState(false);
  // Four hundred offsets are worked out only for who opens the list.
  const options = useMemo(() => {
    const now = new Date();
    const mine = browserZone();
    const first = [...new Set([value, mine, "UTC"])];
    const all = opened ? [...first, ...allZones().filter((one) => !first.includes(one))] : first;
    return all.map((one) => ({
      value: one,
      label: one,
      offset: offsetOf(one, now),
      call: opened ? callOf(one, i18n.language, now) : "",
      mine: one === mine,
    }));
  }, [opened, value, i18n.language]);
  return (
    <Select<string, (typeof options)[number]>
      {...rest}
      aria-label={label}
      showSearch={{
        filterOption: (typed, option) =>
          option !== undefined &&
          matches(typed, `${option.value} ${option.offset} ${option.call} ${citiesOf(option.value)}`),
      }}
      popupMatchSelectWidth={false}
      value={value}
      onOpenChange={(open) => open && setOpened(true)}
      onChange={onChange}
      options={options}
      labelRender={({ value: zone }) => `${String(zone)} (${offsetOf(String(zone), new Date())})`}
      optionRender={({ data }) => (
        <span className="zone-option">
          <span>
            {data.value} <span className="dim">{data.mine ? t("mine") : data.call}</span>
          </span>
          <span className="dim number">{data.offset}</span>
        </span>
      )}
    />
  );
}
