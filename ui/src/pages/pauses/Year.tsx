// The days of a calendar in a year, as twelve small months.
import { LeftOutlined, RightOutlined } from "@ant-design/icons";
import { Button, Tooltip } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { Refused } from "../../parts/Refused";
import { monthsOf } from "./year";

export function Year({ calendar }: { calendar: components["schemas"]["CalendarOutput"] }) {
  const { t, i18n } = useTranslation("pauses");
  const [year, setYear] = useState(() => new Date().getFullYear());
  const days = useGet(
    "/api/v1/calendars/{calendar_id}/days",
    { path: { calendar_id: calendar.id }, query: { year } },
    { keep: true, every: false },
  );
  const named = new Map((days.data?.items ?? []).map((day) => [day.date, day.name]));
  const month = new Intl.DateTimeFormat(i18n.language, { month: "long", timeZone: "UTC" });
  const weekday = new Intl.DateTimeFormat(i18n.language, { weekday: "narrow", timeZone: "UTC" });
  return (
    <section aria-label={calendar.name}>
      <div className="year-bar">
        <Button
          size="small"
          icon={<LeftOutlined />}
          aria-label={t("calendar.before")}
          onClick={() => setYear(year - 1)}
        />
        <strong className="number">{year}</strong>
        <Button
          size="small"
          icon={<RightOutlined />}
          aria-label={t("calendar.after")}
          onClick={() => setYear(year + 1)}
        />
        <span className="dim">{days.data && t("calendar.days", { count: named.size })}</span>
      </div>
      <Refused refusal={days.error} />
      <div className="year">
        {monthsOf(year).map(({ first, weeks }) => (
          <table key={first.getTime()} className="month">
            <caption>{month.format(first)}</caption>
            <thead>
              <tr>
                {weeks[1]?.map((day) => (
                  <th key={day?.date} scope="col">
                    {day && weekday.format(new Date(day.date))}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {weeks.map((week) => (
                <tr key={week.find((day) => day !== null)?.date}>
                  {week.map((day, number) => (
                    <td key={day?.date ?? number}>{day && <Day number={day.number} name={named.get(day.date)} />}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        ))}
      </div>
    </section>
  );
}

function Day({ number, name }: { number: number; name: string | undefined }) {
  if (name === undefined) return <span>{number}</span>;
  return (
    <Tooltip title={name || undefined}>
      <span className="day-named" tabIndex={0} aria-label={`${number} ${name}`}>
        {number}
      </span>
    </Tooltip>
  );
}
