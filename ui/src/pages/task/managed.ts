// Who declares a task besides people, and what becomes of an edit then.
import { useTranslation } from "react-i18next";

import { managerOf } from "./about";

/** In words; undefined for what people declare. */
export function useManaged(task: Parameters<typeof managerOf>[0] | null): string | undefined {
  const { t } = useTranslation("task");
  const manager = task && managerOf(task);
  if (!manager) return undefined;
  return t(`managed.${manager}`, { name: task.managed_by?.slice(manager.length + 1) });
}
