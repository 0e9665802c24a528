// What one executor is at, and a way to stop it.
import { Link } from "@tanstack/react-router";
import { Button } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { Cancelling } from "../../parts/Cancelling";
import { ProgressBar } from "../../parts/ProgressBar";
import { Refused } from "../../parts/Refused";
import { Length } from "../../parts/Time";
import { useMay } from "../../state/session";

type Instance = components["schemas"]["Instance"];

/** An executor has few slots; of one with more, the list of instances shows the rest. */
const ROWS = 50;

export function Executing({ executor }: { executor: components["schemas"]["Executor"] }) {
  const { t } = useTranslation("executors");
  const operator = useMay("operator");
  const [asked, setAsked] = useState<Instance | null>(null);
  const [open, setOpen] = useState(false);
  const running = useGet(
    "/api/v1/instances",
    { query: { executor_id: executor.id, status: "running", limit: ROWS } },
    { every: 5_000 },
  );
  if (running.isPending) return null;
  const items = running.data?.items ?? [];
  const search = { executor_id: executor.id, status: "running" };
  return (
    <>
      <Refused refusal={running.error} again={() => void running.refetch()} />
      {running.data && items.length === 0 && <span className="dim">{t("executor.idle")}</span>}
      {items.length > 0 && (
        <table className="rows">
          <tbody>
            {items.map((one) => (
              <tr key={one.id}>
                <td className="rows-name">
                  <Link to="/instances/$id" params={{ id: String(one.id) }}>
                    #{one.id} {one.task_name}
                  </Link>
                </td>
                <td className="rows-progress">
                  {one.progress !== null && (
                    <ProgressBar fraction={one.progress} label={t("executor.progress", { task: one.task_name })} />
                  )}
                </td>
                <td className="dim">{one.phase}</td>
                <td className="rows-number">
                  <Length from={one.start_time} />
                </td>
                {operator && (
                  <td className="rows-number">
                    <Button
                      size="small"
                      danger
                      disabled={one.cancel_requested}
                      aria-label={t("executor.cancelOf", { id: one.id })}
                      onClick={() => {
                        setAsked(one);
                        setOpen(true);
                      }}
                    >
                      {one.cancel_requested ? t("executor.stopping") : t("executor.cancel")}
                    </Button>
                  </td>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      )}
      {running.data?.next_cursor && (
        <Link to="/instances" search={search as never}>
          {t("executor.more", { shown: items.length, count: executor.running })}
        </Link>
      )}
      {asked && <Cancelling key={asked.id} instance={asked} open={open} onClose={() => setOpen(false)} />}
    </>
  );
}
