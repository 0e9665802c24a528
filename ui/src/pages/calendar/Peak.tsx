// Where the load is highest, to the minute, and how many tasks make it: what could be spread.
import { Button } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { partsIn } from "../../time/format";
import type { Hour } from "./cells";
import { busiestMinute, MINUTE, textOf } from "./minutes";

type Props = { hour: Hour; group: string | undefined; zone: string; onChoose: (from: number) => void };

export function Peak({ hour, group, zone, onChoose }: Props) {
  const { t, i18n } = useTranslation("calendar");
  const from = hour.from ?? 0;
  const load = useGet(
    "/api/v1/schedules/load",
    { query: { from: textOf(from), to: textOf(hour.to), step: "1m", group, timezone: zone } },
    { every: false },
  );
  const minute = busiestMinute(load.data?.items ?? []);
  const at = minute === null ? 0 : Date.parse(minute.at);
  const firing = useGet(
    "/api/v1/schedules/upcoming",
    { query: { from: textOf(at), to: textOf(at + MINUTE), group, limit: 200 } },
    { enabled: minute !== null, every: false },
  );
  const tasks = new Set((firing.data?.items ?? []).filter((one) => one.note === null).map((one) => one.task_id)).size;
  const number = new Intl.NumberFormat(i18n.language);
  const start = partsIn(new Date(from), zone, { seconds: false });
  return (
    <p className="calendar-peak">
      <Button type="link" size="small" onClick={() => onChoose(from)}>
        {t("peak.hour", { day: start.date, clock: start.clock, instants: number.format(hour.coming) })}
      </Button>
      {minute !== null && tasks > 0 && (
        <strong>
          {t(firing.data?.next_cursor ? "peak.more" : "peak.tasks", {
            count: tasks,
            clock: partsIn(new Date(at), zone, { seconds: false }).clock,
          })}
        </strong>
      )}
    </p>
  );
}
