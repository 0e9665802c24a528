// Who executes: the groups, their executors with slots and signs of life, and what each is at.
import "./executors.css";

import { PlusOutlined } from "@ant-design/icons";
import { Button, Empty, Skeleton } from "antd";
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
  const shown = (groups.data?.items ?? []).filter((group) => !filters.group || group.name === filters.group);
  return (
    <Page
      title={t("title")}
      about={
        filters.group && (
          <Button type="link" size="small" onClick={() => change({ group: null })}>
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
      {groups.isPending || executors.isPending ? (
        <Skeleton active />
      ) : (
        shown.map((group) => (
          <Group
            key={group.id}
            group={group}
            executors={(executors.data?.items ?? []).filter((one) => one.group === group.name)}
            standing={overview.data?.groups.find((one) => one.group === group.name)}
          />
        ))
      )}
      {groups.data && shown.length === 0 && <Empty description={t("group.missing", { group: filters.group })} />}
      {making && <GroupDialog onClose={() => setMaking(false)} />}
    </Page>
  );
}
