// How far something that runs has come. What runs is not done: it is never shown as 100 %, nor with a tick.
import { Progress } from "antd";

import { percentOf } from "./percent";

type Props = {
  /** 0 to 1. */
  fraction: number;
  label: string;
  showInfo?: boolean;
  className?: string;
};

export function ProgressBar({ fraction, label, showInfo = true, className }: Props) {
  return (
    <Progress
      percent={percentOf(fraction)}
      status="normal"
      size="small"
      showInfo={showInfo}
      className={className}
      aria-label={label}
    />
  );
}
