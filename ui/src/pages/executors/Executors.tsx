// Who executes: the groups, their executors with slots and signs of life, and what each is at.
import "./executors.css";

import { PlusOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Alert, Button, Empty, Skeleton } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { useMay } from "../../state/session";
import { useFilters } from "../../state/url";
import { Group } from "./Group";
import { GroupDialog } from "./GroupDialog";

export function ExecutorsPage() {
  const { t } = useTranslation("executors");
  const [filters, change] = useFilters();
  const admin = useMay("admin", { whole: true });
  const [making, setMaking] = useState(false);
  const groups = useGet("/api/v1/groups");
  // Heartbeats are no events: they are looked at more often than the rest.
  const executors = useGet("/api/v1/executors", {}, { every: 5_000 });
  const overview = useGet("/api/v1/stats/overview", { query: { hours: 24 } });
  const wanted = filters.executor;
  const seen = (executors.data?.items ?? []).filter((one) => !wanted || one.id === wanted);
  const gone = wanted !== undefined && executors.data !== undefined && seen.length === 0;
  const shown = (groups.data?.items ?? []).filter(
    (group) =>
      (!filters.group || group.name === filters.group) && (!wanted || seen.some((one) => one.group === group.name)),
  );
  return (
    <Page
      title={t("title")}
      about={
        (filters.group || wanted) && (
          <Button type="link" size="small" onClick={() => change({ group: null, executor: null })}>
            {t("all")}
          </Button>
        )
      }
      actions={
        admin && (
          <Button icon={<PlusOutlined />} onClick={() => setMaking(true)}>
            {t("group.make")}
          </Button>
        )
      }
    >
      <Refused refusal={groups.error ?? executors.error} />
      {gone && (
        <Alert
          type="warning"
          showIcon
          title={t("executor.gone", { executor: wanted })}
          description={
            <Link to="/instances" search={{ executor_id: wanted } as never}>
              {t("executor.executed")}
            </Link>
          }
        />
      )}
      {groups.isPending || executors.isPending ? (
        <Skeleton active />
      ) : (
        shown.map((group) => (
          <Group
            key={group.id}
            group={group}
            executors={seen.filter((one) => one.group === group.name)}
            opened={wanted}
            standing={overview.data?.groups.find((one) => one.group === group.name)}
          />
        ))
      )}
      {groups.data && shown.length === 0 && !wanted && (
        <Empty description={t("group.missing", { group: filters.group })} />
      )}
      {making && <GroupDialog onClose={() => setMaking(false)} />}
    </Page>
  );
}
