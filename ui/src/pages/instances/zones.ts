// The zones of tasks, asked for only by who reads times by the tasks' own clocks.
import { useQueries } from "@tanstack/react-query";

import { fetchPath } from "../../api/queries";
import { usePreferences } from "../../state/preferences";

export function useTaskZones(tasks: readonly number[]): ReadonlyMap<number, string> {
  const { clock } = usePreferences();
  const ids = clock === "task" ? [...new Set(tasks)] : [];
  return useQueries({
    queries: ids.map((id) => ({
      queryKey: ["zone of task", id],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (await fetchPath("/api/v1/tasks/{task_id}", { path: { task_id: id } }, signal)).timezone,
      staleTime: 300_000,
      retry: false,
    })),
    combine: (answers) =>
      new Map(answers.flatMap(({ data }, number) => (data === undefined ? [] : [[ids[number] ?? 0, data] as const]))),
  });
}
