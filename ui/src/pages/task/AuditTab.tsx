// Who did what to it.
import { Button, Collapse, Empty, Skeleton, Tag } from "antd";
import { useTranslation } from "react-i18next";

import { usePaged } from "../../api/paged";
import { Diff } from "../../parts/Diff";
import { Json } from "../../parts/Json";
import { Refused } from "../../parts/Refused";
import { Time } from "../../parts/Time";
import { useMay } from "../../state/session";
import type { Task } from "./about";

const INTERNAL = ["declared_hash", "version"];

export function AuditTab({ task }: { task: Task }) {
  const { t } = useTranslation("task");
  const may = useMay("editor", { whole: true });
  const found = usePaged(
    "/api/v1/audit-logs",
    { resource_type: "task", resource_id: String(task.id), limit: 50 },
    { enabled: may },
  );
  if (!may) return <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t("auditHidden")} />;
  return (
    <>
      <Refused refusal={found.refusal} again={found.again} />
      {found.first && !found.refusal && <Skeleton active title={false} paragraph={{ rows: 4 }} />}
      {!found.first && found.items.length === 0 && !found.more && (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t("auditNone")} />
      )}
      {found.items.length > 0 && (
        <Collapse
          size="small"
          items={found.items.map((entry) => ({
            key: entry.id,
            label: (
              <span className="task-audit">
                <Time at={entry.occurred_at} />
                <strong>{entry.user_name}</strong>
                <span>{entry.action}</span>
                {entry.result !== "done" && (
                  <Tag variant="filled" color="red">
                    {entry.result}
                  </Tag>
                )}
              </span>
            ),
            children:
              entry.before === null && entry.after === null ? (
                <Json value={entry.payload} />
              ) : (
                <Diff before={entry.before} after={entry.after} without={INTERNAL} />
              ),
          }))}
        />
      )}
      {found.more && (
        <Button className="task-more" onClick={found.next} loading={found.fetching}>
          {t("common:loadMore")}
        </Button>
      )}
    </>
  );
}
