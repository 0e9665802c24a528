// When a task fires, in words; as it is written when pointed at.
import { Tooltip } from "antd";
import { useTranslation } from "react-i18next";

import { lengthOf, partsIn } from "../time/format";
import { instantAt } from "../time/local";
import { cronInWords, readSchedule } from "../time/schedule";

export function useScheduleWords(): (schedule: string, zone: string) => string {
  const { t, i18n } = useTranslation("schedule");
  return (schedule, zone) => {
    const read = readSchedule(schedule);
    switch (read.form) {
      case "cron":
        return cronInWords(read.cron, i18n.language) ?? schedule;
      case "every":
        return t("every", { length: lengthOf(read.milliseconds) });
      case "after":
        return t("after", { length: lengthOf(read.milliseconds) });
      case "at": {
        // Without an offset it is a time of the task's zone.
        const given = /(z|[+-]\d\d:\d\d)$/i.test(read.moment) ? new Date(read.moment) : instantAt(read.moment, zone);
        if (given === null || Number.isNaN(given.getTime())) return schedule;
        const { date, clock } = partsIn(given, zone, { seconds: false });
        return t("at", { moment: `${date} ${clock}` });
      }
      case "upstream":
        return t("upstream");
      case "manual":
        return t("manual");
      case "unknown":
        return schedule;
    }
  };
}

export function Schedule({ schedule, zone }: { schedule: string; zone: string }) {
  const inWords = useScheduleWords();
  return (
    <Tooltip title={<span className="mono">{`${schedule} (${zone})`}</span>}>
      <span>{inWords(schedule, zone)}</span>
    </Tooltip>
  );
}
