// The last endings of a task, oldest first: how it went and, by height, how long it took.
import { Tooltip } from "antd";
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { lengthOf } from "../time/format";
import type { StatusWord } from "./Status";
import { Time } from "./Time";

export type Ending = {
  instance_id: number;
  status: StatusWord;
  end_time: string;
  duration_ms: number | null;
  skip_reason?: string | null;
};

type Props = { endings: readonly Ending[]; zone?: string | null; size?: number };

export function Strip({ endings, zone, size = 30 }: Props) {
  const { t } = useTranslation("common");
  const shown = endings.slice(-size);
  const longest = Math.max(1, ...shown.map((one) => one.duration_ms ?? 0));
  if (shown.length === 0) return <span className="dim">{t("strip.none")}</span>;
  return (
    <span className="strip" role="list" aria-label={t("strip.label", { count: shown.length })}>
      {shown.map((one) => {
        const word = one.skip_reason ? "skipped" : one.status;
        const height = 30 + 70 * Math.sqrt((one.duration_ms ?? 0) / longest);
        return (
          <Tooltip
            key={`${one.instance_id} ${one.end_time}`}
            title={
              <>
                #{one.instance_id} {t(`status.${word}`)} {one.duration_ms !== null && lengthOf(one.duration_ms)}
                <br />
                <Time at={one.end_time} zone={zone} />
              </>
            }
          >
            <Link
              role="listitem"
              to="/instances/$id"
              params={{ id: String(one.instance_id) }}
              className={`strip-bar bar-${word}`}
              style={{ height: `${height}%` }}
              aria-label={`#${one.instance_id} ${t(`status.${word}`)}`}
            />
          </Tooltip>
        );
      })}
    </span>
  );
}
