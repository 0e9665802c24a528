// What became of a notice at one target.
import type { components } from "../../api/schema";

type Notice = components["schemas"]["NoticeOutput"];
export type Delivery = "sent" | "givenUp" | "failing" | "waiting";

export function deliveryOf(notice: Pick<Notice, "sent_at" | "given_up_at" | "tries">): Delivery {
  if (notice.sent_at !== null) return "sent";
  if (notice.given_up_at !== null) return "givenUp";
  return notice.tries > 0 ? "failing" : "waiting";
}

/** Where something that fires can be looked at. */
export function subjectPlace(about: Record<string, unknown>): string | null {
  if (typeof about.instance_id === "number") return `/instances/${about.instance_id}`;
  if (typeof about.task_id === "number") return `/tasks/${about.task_id}`;
  if (about.executor_id !== undefined || about.executor !== undefined || about.group_id !== undefined) {
    return "/executors";
  }
  return null;
}
