// What rests: pauses in force, windows that recur, and the calendars that windows and schedules go by.
import "./pauses.css";

import { Tabs } from "antd";
import { useTranslation } from "react-i18next";

import { Page } from "../../parts/Page";
import { useFilters } from "../../state/url";
import { Calendars } from "./Calendars";
import { Resting } from "./Resting";
import { Windows } from "./Windows";

export function PausesPage() {
  const { t } = useTranslation("pauses");
  const [filters, change] = useFilters();
  return (
    <Page title={t("title")}>
      <Tabs
        activeKey={filters.tab ?? "pauses"}
        onChange={(tab) => change({ tab: tab === "pauses" ? null : tab })}
        destroyOnHidden
        items={[
          { key: "pauses", label: t("tabs.pauses"), children: <Resting /> },
          { key: "windows", label: t("tabs.windows"), children: <Windows /> },
          { key: "calendars", label: t("tabs.calendars"), children: <Calendars /> },
        ]}
      />
    </Page>
  );
}
