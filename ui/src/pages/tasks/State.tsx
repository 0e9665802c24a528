// Whether a task fires: it is enabled, rests under a pause, or is switched off.
import { PauseCircleOutlined, StopOutlined } from "@ant-design/icons";
import { Tag, Tooltip } from "antd";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { longestOf, type Pause } from "../../parts/pausing";
import { Time } from "../../parts/Time";

type Task = components["schemas"]["Task"];

/** Nothing for a task that is as it should be. */
export function State({ task, pauses }: { task: Task; pauses: readonly Pause[] }) {
  const { t } = useTranslation("tasks");
  const pause = longestOf(pauses);
  return (
    <>
      {!task.enabled && (
        <Tag variant="filled" icon={<StopOutlined />} className="status">
          {t("disabled")}
        </Tag>
      )}
      {pause && (
        <div className="tasks-two">
          <Tooltip title={t("pausedBy", { owner: pause.owner, reason: pause.reason })}>
            <Tag variant="filled" color="orange" icon={<PauseCircleOutlined />} className="status" tabIndex={0}>
              {t(`paused.${pause.scope}`)}
            </Tag>
          </Tooltip>
          {pause.until && (
            <div className="dim">
              {t("until")} <Time at={pause.until} zone={task.timezone} seconds={false} />
            </div>
          )}
        </div>
      )}
    </>
  );
}
