// Its newest instances, and of what failed the reason in the row.
import { Link } from "@tanstack/react-router";
import { Empty, Skeleton } from "antd";
import { useTranslation } from "react-i18next";

import { usePaged } from "../../api/paged";
import { Panel } from "../../parts/Panel";
import { More } from "../../parts/More";
import { Refused } from "../../parts/Refused";
import { Status } from "../../parts/Status";
import { Length, Time } from "../../parts/Time";
import type { Instance, Task } from "./about";

type Props = { task: Task; status?: "failed"; limit: number; title: string; whole?: boolean };

export function Recent({ task, status, limit, title, whole = false }: Props) {
  const { t } = useTranslation("task");
  const found = usePaged("/api/v1/instances", { task_id: task.id, limit, ...(status ? { status } : {}) });
  const all = { task_id: String(task.id), ...(status ? { status } : {}) } as never;
  return (
    <Panel
      title={title}
      aside={
        <Link to="/instances" search={all}>
          {t("all")}
        </Link>
      }
    >
      <Refused refusal={found.refusal} again={found.again} />
      {found.first && !found.refusal && <Skeleton active title={false} paragraph={{ rows: 4 }} />}
      {!found.first && found.items.length === 0 && (
        <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={status ? t("noFailures") : t("noInstances")} />
      )}
      {found.items.length > 0 && (
        <div className="task-scroll">
          <table className="rows task-rows cards">
            <thead>
              <tr>
                <th scope="col">{t("column.instance")}</th>
                {!status && <th scope="col">{t("column.status")}</th>}
                <th scope="col">{t("column.scheduled")}</th>
                <th scope="col">{t("column.took")}</th>
                <th scope="col">{status ? t("column.error") : t("column.how")}</th>
              </tr>
            </thead>
            <tbody>
              {found.items.map((one) => (
                <Row
                  key={`${one.id} ${one.log_id ?? ""}`}
                  one={one}
                  zone={task.timezone}
                  failures={status !== undefined}
                />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {whole && <More list={found} />}
    </Panel>
  );
}

/** Among failures nobody needs to be told that it failed: the room is the error's. */
function Row({ one, zone, failures }: { one: Instance; zone: string; failures: boolean }) {
  const { t } = useTranslation("task");
  return (
    <tr>
      <td>
        <Link
          to="/instances/$id"
          params={{ id: String(one.id) }}
          search={(one.status === "failed" ? { log: "errors" } : {}) as never}
          className="number"
        >
          #{one.id}
        </Link>
      </td>
      {!failures && (
        <td>
          <Status status={one.status} skipped={one.skip_reason} />
        </td>
      )}
      <td>
        <Time at={one.scheduled_time} zone={zone} as={failures ? "relative" : "full"} />
      </td>
      <td className="rows-number">
        {one.skip_reason ? <span className="dim">–</span> : <Length ms={one.duration_ms} from={one.start_time} />}
      </td>
      <td className="task-said" title={one.error_message ?? undefined}>
        {one.error_message ? (
          <span className={one.status === "failed" ? "task-bad" : "dim"}>{one.error_message}</span>
        ) : (
          <span className="dim">
            {t(`by.${one.triggered_by}`)}
            {one.requested_by && ` · ${one.requested_by}`}
          </span>
        )}
      </td>
    </tr>
  );
}
