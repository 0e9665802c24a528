// The last endings of a task, oldest first: how it went and, by height, how long it took.
// A list has hundreds of these: one tooltip a strip and plain anchors, since a component a bar would be felt.
import { Tooltip } from "antd";
import { useNavigate } from "@tanstack/react-router";
import { memo, useState, type MouseEvent } from "react";
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

export const Strip = memo(function Strip({ endings, zone, size = 30 }: Props) {
  const { t } = useTranslation("common");
  const navigate = useNavigate();
  const [at, setAt] = useState<number | null>(null);
  const shown = endings.slice(-size);
  const longest = Math.max(1, ...shown.map((one) => one.duration_ms ?? 0));
  if (shown.length === 0) return <span className="dim">{t("strip.none")}</span>;
  const pointed = at === null ? undefined : shown[at];

  function go(event: MouseEvent<HTMLSpanElement>) {
    const bar = event.target instanceof Element ? event.target.closest("a") : null;
    // With a key held down the browser opens another tab by itself.
    if (bar === null || event.button !== 0 || event.ctrlKey || event.metaKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    const one = shown[Number(bar.dataset.at)];
    if (one) void navigate({ to: "/instances/$id", params: { id: String(one.instance_id) } });
  }

  return (
    <Tooltip
      open={pointed !== undefined}
      title={
        pointed && (
          <>
            #{pointed.instance_id} {t(`status.${wordOf(pointed)}`)}{" "}
            {pointed.duration_ms !== null && lengthOf(pointed.duration_ms)}
            <br />
            <Time at={pointed.end_time} zone={zone} />
          </>
        )
      }
    >
      <span
        className="strip"
        role="group"
        aria-label={t("strip.label", { count: shown.length })}
        onClick={go}
        onMouseLeave={() => setAt(null)}
      >
        {shown.map((one, number) => {
          const height = 30 + 70 * Math.sqrt((one.duration_ms ?? 0) / longest);
          return (
            <a
              key={`${one.instance_id} ${one.end_time}`}
              data-at={number}
              href={`/instances/${one.instance_id}`}
              // Thirty stops a row would be in the way of whoever goes by keys; the task's page lists them all.
              tabIndex={-1}
              className={`strip-bar bar-${wordOf(one)}`}
              style={{ height: `${height}%` }}
              aria-label={`#${one.instance_id} ${t(`status.${wordOf(one)}`)}`}
              onMouseEnter={() => setAt(number)}
            />
          );
        })}
      </span>
    </Tooltip>
  );
});

function wordOf(one: Ending): string {
  return one.skip_reason ? "skipped" : one.status;
}
