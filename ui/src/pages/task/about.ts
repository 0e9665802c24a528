// What a task is, as this page asks about it.
import type { components } from "../../api/schema";

export type Task = components["schemas"]["Task"];
export type Instance = components["schemas"]["Instance"];
export type Manager = "app" | "file" | "built-in" | null;

/** Who declares it: that decides what becomes of an edit. */
export function managerOf(task: Task): Manager {
  const kind = task.managed_by?.split(":")[0];
  return kind === "app" || kind === "file" || kind === "built-in" ? kind : null;
}

export const TABS = ["overview", "instances", "definition", "dependencies", "versions", "audit"] as const;
export type Tab = (typeof TABS)[number];

export function tabOf(text: string | undefined): Tab {
  return TABS.find((tab) => tab === text) ?? "overview";
}
