// What everybody should know at a glance: something rests, an alert fires.
import { AlertOutlined, PauseCircleOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Tag, Tooltip } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../api/queries";
import { useMay } from "../state/session";

export function Standing() {
  const { t } = useTranslation("shell");
  const seesAlerts = useMay("viewer", { whole: true });
  const pauses = useGet("/api/v1/pauses").data?.items ?? [];
  const firing = useGet("/api/v1/alerts", { query: { limit: 1 } }, { enabled: seesAlerts }).data?.firing ?? [];
  const all = pauses.find((pause) => pause.scope === "all");
  return (
    <>
      {pauses.length > 0 && (
        <Tooltip title={all ? `${all.owner}: ${all.reason}` : undefined}>
          <Link to="/pauses" className="standing">
            <Tag color={all ? "red" : "gold"} variant="filled" icon={<PauseCircleOutlined />}>
              {all ? t("standing.all") : t("standing.paused", { count: pauses.length })}
            </Tag>
          </Link>
        </Tooltip>
      )}
      {firing.length > 0 && (
        <Link to="/alerts" className="standing">
          <Tag color="red" variant="filled" icon={<AlertOutlined />}>
            {t("standing.firing", { count: firing.length })}
          </Tag>
        </Link>
      )}
    </>
  );
}
