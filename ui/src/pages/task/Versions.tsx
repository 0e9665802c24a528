// Every definition it has had: what each changed, and how to go back to it.
import { Button, Popconfirm, Select, Skeleton } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { usePaged } from "../../api/paged";
import type { components } from "../../api/schema";
import { Diff } from "../../parts/Diff";
import { Panel } from "../../parts/Panel";
import { changesBetween } from "../../parts/diff";
import { More } from "../../parts/More";
import { Refused } from "../../parts/Refused";
import { Time } from "../../parts/Time";
import { useMay } from "../../state/session";
import { useFilters } from "../../state/url";
import { managerOf, type Task } from "./about";
import { restoring } from "./restoring";

type Version = components["schemas"]["TaskVersion"];

export function Versions({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const [filters, change] = useFilters();
  const found = usePaged("/api/v1/tasks/{task_id}/versions", { limit: 50 }, { at: { task_id: task.id } });
  const edits = useMay("editor") && managerOf(task) !== "built-in";
  const restore = useAct(
    (version: Version) =>
      answer(
        client.PATCH("/api/v1/tasks/{task_id}", {
          params: { path: { task_id: task.id } },
          body: { ...restoring(version.definition, task), version: task.version },
        }),
      ),
    { done: (now) => t("restored", { version: now.version }), refresh: ["/api/v1/tasks", "/api/v1/audit-logs"] },
  );
  const versions = found.items;
  const shown = versions.find((one) => String(one.version) === filters.version) ?? versions[0];
  const other =
    versions.find((one) => String(one.version) === filters.against) ??
    versions.find((one) => shown !== undefined && one.version < shown.version);
  return (
    <div className="task-versions">
      <Panel title={t("tab.versions")}>
        <Refused refusal={found.refusal} again={found.again} />
        {found.first && !found.refusal && <Skeleton active title={false} paragraph={{ rows: 3 }} />}
        <ul className="task-versions-list">
          {versions.map((one, place) => (
            <li key={one.version}>
              <button
                type="button"
                aria-current={one === shown}
                onClick={() => change({ version: String(one.version), against: null })}
              >
                <strong className="number">v{one.version}</strong>{" "}
                <Time at={one.changed_at} zone={task.timezone} seconds={false} />
                <span className="dim"> {one.changed_by}</span>
                <Summary version={one} before={versions[place + 1]} />
              </button>
            </li>
          ))}
        </ul>
        <More list={found} />
      </Panel>
      {shown && (
        <Panel
          title={t("versionTitle", { version: shown.version })}
          aside={
            <span className="task-versions-aside">
              {versions.length > 1 && (
                <Select
                  size="small"
                  aria-label={t("against")}
                  value={other?.version}
                  placeholder={t("against")}
                  onChange={(version) => change({ against: String(version) })}
                  options={versions
                    .filter((one) => one !== shown)
                    .map((one) => ({ value: one.version, label: t("againstOne", { version: one.version }) }))}
                />
              )}
              {edits && shown.version !== task.version && (
                <Popconfirm
                  title={t("restoreTitle", { version: shown.version })}
                  description={t("restoreAbout")}
                  okText={t("restore")}
                  cancelText={t("common:cancel")}
                  onConfirm={() => restore.run(shown)}
                >
                  <Button size="small" loading={restore.pending}>
                    {t("restore")}
                  </Button>
                </Popconfirm>
              )}
            </span>
          }
        >
          <Diff before={other?.definition} after={shown.definition} />
        </Panel>
      )}
    </div>
  );
}

function Summary({ version, before }: { version: Version; before?: Version }) {
  const { t } = useTranslation("task");
  if (version.version === 1) return <div className="dim">{t("created")}</div>;
  if (before === undefined) return null;
  const fields = [
    ...new Set(changesBetween(before.definition, version.definition).map(({ path }) => path.split(".")[0])),
  ];
  return <div className="dim mono">{fields.join(", ")}</div>;
}
