// Hours in which notices are held back, to be told at their end in one.
import { Checkbox, Input, Switch } from "antd";
import { useTranslation } from "react-i18next";

import { ZoneSelect } from "../../parts/ZoneSelect";
import { browserZone } from "../../time/format";

export type Quiet = { from: string; to: string; timezone: string; days?: string[] | null };
type Props = { id?: string; value?: Quiet | null; onChange?: (value: Quiet | null) => void };

const DAYS = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"];

export function QuietField({ id, value = null, onChange }: Props) {
  const { t } = useTranslation("alerts");
  const begin = (): Quiet => ({ from: "22:00", to: "07:00", timezone: browserZone() });
  const change = (part: Partial<Quiet>) => value && onChange?.({ ...value, ...part });
  return (
    <>
      <Switch
        id={id}
        size="small"
        checked={value !== null}
        aria-label={t("quiet.label")}
        onChange={(on) => onChange?.(on ? begin() : null)}
      />
      {value !== null && (
        <>
          <div className="alerts-row alerts-quiet">
            <Input
              type="time"
              aria-label={t("quiet.from")}
              value={value.from}
              onChange={(event) => change({ from: event.target.value })}
            />
            –
            <Input
              type="time"
              aria-label={t("quiet.to")}
              value={value.to}
              onChange={(event) => change({ to: event.target.value })}
            />
            <ZoneSelect
              className="alerts-kind"
              label={t("quiet.zone")}
              value={value.timezone}
              onChange={(timezone) => change({ timezone })}
            />
          </div>
          <Checkbox.Group
            aria-label={t("quiet.days")}
            value={value.days ?? DAYS}
            options={DAYS.map((day) => ({ value: day, label: t(`day.${day}`) }))}
            onChange={(days) => change({ days: DAYS.filter((day) => days.includes(day)) })}
          />
        </>
      )}
    </>
  );
}
