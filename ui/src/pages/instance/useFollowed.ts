// An instance as whoever looks at it needs it: kept fresh while it lives, told of by its stream, and retried in place.
import { useQueryClient, type UseQueryResult } from "@tanstack/react-query";
import { useCallback, useMemo, useState } from "react";

import { connection } from "../../api/live";
import { BENEATH, useGet } from "../../api/queries";
import type { Refusal } from "../../api/refusal";
import type { components } from "../../api/schema";
import { useStore } from "../../state/store";
import { useFilters } from "../../state/url";

type Instance = components["schemas"]["Instance"];
const PATH = "/api/v1/instances/{instance_id}";
const ABOUT = [`${PATH}/attempts`, `${PATH}/explain`];

/** What has ended changes only when somebody retries it, which an event tells where events come in. */
function useOften(instance: Instance | undefined): number | false {
  const live = useStore(connection) === "live";
  return live && instance && instance.end_time !== null ? false : BENEATH;
}

export function useInstance(id: number): UseQueryResult<Instance, Refusal> {
  const params = { path: { instance_id: id } };
  const known = useQueryClient().getQueryData<Instance>([PATH, params]);
  return useGet(PATH, params, { every: useOften(known) });
}

export function useFollowed(instance: Instance) {
  const queries = useQueryClient();
  const [, change] = useFilters();
  const { id } = instance;
  const task = useGet("/api/v1/tasks/{task_id}", { path: { task_id: instance.task_id } }, { every: false });
  const attempts = useGet(`${PATH}/attempts`, { path: { instance_id: id } }, { every: useOften(instance) });
  const [retried, setRetried] = useState(0);
  const numbers = useMemo(
    () => new Map((attempts.data?.items ?? []).map((attempt, index) => [attempt.fence, index + 1])),
    [attempts.data],
  );

  const onInstance = useCallback(
    (state: Instance) => {
      const params = { path: { instance_id: id } };
      const before = queries.getQueryData<Instance>([PATH, params]);
      // An answer that is on its way is older than this, and must not win.
      void queries.cancelQueries({ queryKey: [PATH, params], exact: true }).then(() => {
        queries.setQueryData([PATH, params], state);
      });
      if (before?.status === state.status) return;
      for (const path of ABOUT) void queries.invalidateQueries({ queryKey: [path, params] }, { cancelRefetch: false });
    },
    [queries, id],
  );

  /** Who retries wants to see what the new attempt writes, not the errors of the old ones. */
  const onRetried = useCallback(() => {
    setRetried((times) => times + 1);
    change({ log: null, attempt: null, line: null, to: null });
  }, [change]);

  return { task: task.data, attempts: attempts.data?.items ?? [], numbers, retried, onInstance, onRetried };
}
