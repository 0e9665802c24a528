// The landing page: how it stands, what failed, what is to come. It asks for figures and short lists only, so that it
// is as fast with millions of rows as with ten.
import "./overview.css";

import { Skeleton } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { Ended } from "./Ended";
import { Failures } from "./Failures";
import { Figures } from "./Figures";
import { First } from "./First";
import { Groups } from "./Groups";
import { LongRunning } from "./LongRunning";
import { Upcoming } from "./Upcoming";

export function OverviewPage() {
  const { t } = useTranslation("overview");
  const overview = useGet("/api/v1/stats/overview", { query: { hours: 24 } });
  const tasks = useGet("/api/v1/tasks", { query: { limit: 1 } });
  const empty = tasks.data?.items.length === 0;
  return (
    <Page title={t("title")}>
      <Refused refusal={overview.error} again={() => void overview.refetch()} />
      {empty && <First />}
      {overview.data ? <Figures overview={overview.data} /> : <Skeleton active paragraph={{ rows: 2 }} />}
      {!empty && (
        <div className="overview-grid">
          <div className="overview-column">
            <Failures />
            {overview.data && <Groups groups={overview.data.groups} />}
          </div>
          <div className="overview-column">
            <Ended />
            <LongRunning />
            <Upcoming />
          </div>
        </div>
      )}
    </Page>
  );
}
