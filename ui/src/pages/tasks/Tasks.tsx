// Every task: when it fires, how it went lately, and what can be done with it.
import { PlusOutlined } from "@ant-design/icons";
import { Link, useNavigate } from "@tanstack/react-router";
import { Button, Dropdown, Empty, Grid, Skeleton } from "antd";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import { usePaged } from "../../api/paged";
import { useGet } from "../../api/queries";
import { Page } from "../../parts/Page";
import { PauseDialog } from "../../parts/PauseDialog";
import { Refused } from "../../parts/Refused";
import { RunDialog } from "../../parts/RunDialog";
import { useMay } from "../../state/session";
import { useFilters } from "../../state/url";
import { BulkDialog } from "./BulkDialog";
import { Cards } from "./Cards";
import type { Stats, Task } from "./cells";
import { FilterBar } from "./FilterBar";
import { actionsFor, isEverything, queryOf, type BulkAction } from "./filters";
import { Rows } from "./Rows";
import "./tasks.css";

const A_PAGE = 50;
const STATS_AT_ONCE = 200;

export function TasksPage() {
  const { t } = useTranslation("tasks");
  const navigate = useNavigate();
  const [filters] = useFilters();
  const query = queryOf(filters);
  const edits = useMay("editor");
  const wide = Grid.useBreakpoint().md ?? true;
  const found = usePaged("/api/v1/tasks", { ...query, limit: A_PAGE });
  const stats = useStats(found.items);
  const pauses = useGet("/api/v1/pauses").data?.items ?? [];
  const [doing, setDoing] = useState<{ what: "run" | "pause"; task: Task } | null>(null);
  const [bulk, setBulk] = useState<BulkAction | null>(null);
  const Listing = wide ? Rows : Cards;

  return (
    <Page
      title={t("title")}
      actions={
        edits && (
          <>
            <Dropdown
              trigger={["click"]}
              menu={{
                items: actionsFor(query).map((action) => ({
                  key: action,
                  danger: action === "delete",
                  label: t(`bulk.${action}`),
                })),
                onClick: ({ key }) => setBulk(key as BulkAction),
              }}
            >
              <Button>{isEverything(query) ? t("bulk.all") : t("bulk.matching")}</Button>
            </Dropdown>
            <Button
              type="primary"
              icon={<PlusOutlined />}
              href="/tasks/new"
              onClick={(event) => {
                event.preventDefault();
                void navigate({ to: "/tasks/new" });
              }}
            >
              {t("new")}
            </Button>
          </>
        )
      }
    >
      <FilterBar />
      <Refused refusal={found.refusal} again={found.again} />
      {found.first && !found.refusal && <Skeleton active paragraph={{ rows: 12 }} title={false} />}
      {!found.first && found.items.length === 0 && (
        <Empty description={isEverything(query) ? t("none") : t("noneFit")}>
          {edits && isEverything(query) && <Link to="/tasks/new">{t("new")}</Link>}
        </Empty>
      )}
      {found.items.length > 0 && (
        <Listing
          tasks={found.items}
          stats={stats}
          pauses={pauses}
          onRun={(task) => setDoing({ what: "run", task })}
          onPause={(task) => setDoing({ what: "pause", task })}
        />
      )}
      {found.more && (
        <div className="tasks-more">
          <Button onClick={found.next} loading={found.fetching}>
            {t("common:loadMore")}
          </Button>
        </div>
      )}
      {doing && (
        <>
          <RunDialog
            open={doing.what === "run"}
            onClose={() => setDoing(null)}
            taskId={doing.task.id}
            task={doing.task}
          />
          <PauseDialog open={doing.what === "pause"} onClose={() => setDoing(null)} scope="task" task={doing.task} />
        </>
      )}
      {bulk && <BulkDialog action={bulk} query={query} onClose={() => setBulk(null)} />}
    </Page>
  );
}

/** How each fared lately, for as many as one request answers for: those that were loaded last. */
function useStats(tasks: readonly Task[]): ReadonlyMap<number, Stats> {
  const ids = tasks.map(({ id }) => id).slice(-STATS_AT_ONCE);
  const found = useGet(
    "/api/v1/stats/tasks",
    { query: { ids: ids.join(","), last: 30 } },
    { enabled: ids.length > 0, keep: true },
  );
  return useMemo(() => new Map((found.data?.items ?? []).map((one) => [one.task_id, one])), [found.data]);
}
