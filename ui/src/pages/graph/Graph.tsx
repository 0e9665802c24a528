// Which task depends on which, how each stands, and what a failure would block.
import { Alert, Button, Drawer, Empty, Grid, Segmented, Select, Skeleton } from "antd";
import { useDeferredValue, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { SearchText } from "../../parts/FilterBar";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { useFilters } from "../../state/url";
import { Canvas } from "./Canvas";
import { List } from "./List";
import { steadily } from "./shown";
import { Side } from "./Side";
import "./graph.css";

const NONE: ReadonlySet<number> = new Set();

export function GraphPage() {
  const { t } = useTranslation("graph");
  const [filters, change] = useFilters();
  const narrow = Grid.useBreakpoint().md === false;
  const around = idOf(filters.task);
  const chosen = idOf(filters.open) ?? around;
  const group = filters.group;
  const q = useDeferredValue(filters.q ?? "");
  const graph = useGet("/api/v1/tasks/graph", { query: { task_id: around ?? undefined, group } }, { keep: true });
  const groups = useGet("/api/v1/groups", {}, { every: 60_000 });
  const impact = useGet(
    "/api/v1/tasks/{task_id}/impact",
    { path: { task_id: chosen ?? 0 } },
    { enabled: chosen !== null },
  );
  const found = graph.data;
  const view = `${around ?? ""} ${group ?? ""} ${q}`;
  const [shownOf] = useState(() => steadily());
  const shown = useMemo(() => shownOf(found?.nodes ?? [], found?.edges ?? [], q, view), [shownOf, found, q, view]);
  const blocked = useMemo(
    () => (impact.data && chosen !== null ? new Set(impact.data.items.map((one) => one.task_id)) : NONE),
    [impact.data, chosen],
  );
  const node = chosen === null ? undefined : found?.nodes.find((one) => one.id === chosen);
  const closed = filters.open === "none";
  const choose = (id: number | null) => change({ open: id === null ? (around === null ? null : "none") : String(id) });
  const focus = (id: number | null) => change({ task: id === null ? null : String(id), open: null, q: null });
  const list = filters.as === "list";

  const side = node && !closed && (
    <Side key={node.id} node={node} impact={impact.data} focused={around === node.id} choose={choose} focus={focus} />
  );
  return (
    <Page
      title={t("title")}
      actions={
        <Segmented
          value={list ? "list" : "drawing"}
          aria-label={t("as")}
          onChange={(as) => change({ as: as === "list" ? "list" : null })}
          options={[
            { value: "drawing", label: t("asDrawing") },
            { value: "list", label: t("asList") },
          ]}
        />
      }
    >
      <div className="graph-filters" role="search" aria-label={t("filter.label")}>
        <SearchText label={t("filter.q")} value={filters.q ?? ""} onChange={(text) => change({ q: text })} />
        <Select
          allowClear
          showSearch
          value={group}
          placeholder={t("filter.group")}
          aria-label={t("filter.group")}
          onChange={(name: string | undefined) => change({ group: name })}
          options={(groups.data?.items ?? []).map(({ name }) => ({ value: name, label: name }))}
        />
        {around !== null && <Button onClick={() => focus(null)}>{t("whole")}</Button>}
        <span className="dim graph-count">{found && t("count", { count: shown.nodes.length })}</span>
      </div>
      <Refused refusal={graph.error} again={() => void graph.refetch()} />
      {found?.truncated && <Alert className="graph-note" type="warning" showIcon title={t("truncated")} />}
      {shown.left > 0 && (
        <Alert
          className="graph-note"
          type="info"
          showIcon
          title={t("bounded", { shown: shown.nodes.length, all: shown.nodes.length + shown.left })}
        />
      )}
      {graph.isPending && <Skeleton active paragraph={{ rows: 8 }} />}
      {found && shown.nodes.length === 0 && (
        <Empty
          image={Empty.PRESENTED_IMAGE_SIMPLE}
          description={filters.q || group || around !== null ? t("noneHere") : t("none")}
        />
      )}
      {found && shown.nodes.length > 0 && (
        <div className="graph-body">
          <div className="graph-main">
            {list ? (
              <List shown={shown} choose={choose} />
            ) : (
              <Canvas
                shown={shown}
                chosen={closed ? around : chosen}
                blocked={closed ? NONE : blocked}
                view={view}
                onList={() => change({ as: "list" })}
                choose={choose}
              />
            )}
          </div>
          {narrow ? (
            <Drawer
              open={Boolean(side)}
              placement="bottom"
              mask={false} // what would be blocked stays in sight
              size="62%"
              closable={false}
              onClose={() => choose(null)}
              aria-label={t("side", { name: node?.name ?? "" })}
            >
              {side}
            </Drawer>
          ) : (
            side
          )}
        </div>
      )}
    </Page>
  );
}

function idOf(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,18}$/.test(text) ? Number(text) : null;
}
