// Every task: when it fires, how it went lately, and what can be done with it.
import { PlusOutlined } from "@ant-design/icons";
import { useNavigate } from "@tanstack/react-router";
import { Button, Dropdown, Empty, Grid, Skeleton } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { usePaged } from "../../api/paged";
import { useGet } from "../../api/queries";
import { FilterBar } from "../../parts/FilterBar";
import { More } from "../../parts/More";
import { Page } from "../../parts/Page";
import { PauseDialog } from "../../parts/PauseDialog";
import { Refused } from "../../parts/Refused";
import { RunDialog } from "../../parts/RunDialog";
import { useMay } from "../../state/session";
import { useFilters } from "../../state/url";
import { BulkDialog } from "./BulkDialog";
import { Cards } from "./Cards";
import type { Task } from "./cells";
import { useFields } from "./fields";
import { actionsFor, isEverything, queryOf, type BulkAction } from "./filters";
import { A_PAGE, useLately } from "./lately";
import { Rows } from "./Rows";
import "./tasks.css";

export function TasksPage() {
  const { t } = useTranslation("tasks");
  const navigate = useNavigate();
  const [filters, change] = useFilters();
  const fields = useFields();
  const query = queryOf(filters);
  const edits = useMay("editor");
  const wide = Grid.useBreakpoint().md ?? true;
  const found = usePaged("/api/v1/tasks", { ...query, limit: A_PAGE });
  const lately = useLately(found.items.map(({ id }) => id));
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
            {found.items.length > 0 && (
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
            )}
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
      <FilterBar search={{ name: "q", label: t("filter.q") }} fields={fields} values={filters} onChange={change} />
      <Refused refusal={found.refusal} again={found.again} />
      {found.first && !found.refusal && <Skeleton active paragraph={{ rows: 12 }} title={false} />}
      {!found.first && found.items.length === 0 && (
        <Empty description={isEverything(query) ? t(edits ? "noneNew" : "none") : t("noneFit")} />
      )}
      {found.items.length > 0 && (
        <Listing
          tasks={found.items}
          lately={lately}
          pauses={pauses}
          onRun={(task) => setDoing({ what: "run", task })}
          onPause={(task) => setDoing({ what: "pause", task })}
        />
      )}
      <More list={found} />
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
