// How tasks fared lately, asked for page by page: one more page asks nothing anew of those before it.
import { keepPreviousData, useQueries } from "@tanstack/react-query";

import { BENEATH, fetchPath, type Params } from "../../api/queries";
import type { components } from "../../api/schema";

export type Stats = components["schemas"]["TaskStats"];
/** Nothing of a task whose figures are on their way; null of one that has none, or whose figures were refused. */
export type Lately = ReadonlyMap<number, Stats | null>;

const PATH = "/api/v1/stats/tasks";
/** As many as the list loads at once. */
export const A_PAGE = 50;

export function pagesOf(ids: readonly number[]): number[][] {
  return Array.from({ length: Math.ceil(ids.length / A_PAGE) }, (_, page) =>
    ids.slice(page * A_PAGE, (page + 1) * A_PAGE),
  );
}

type Answered = { data?: { items: readonly Stats[] }; isPlaceholderData: boolean; isError: boolean };

export function gathered(pages: readonly (readonly number[])[], answers: readonly Answered[]): Lately {
  const found = new Map<number, Stats | null>();
  pages.forEach((ids, page) => {
    const answer = answers[page];
    // What is shown meanwhile belongs to other tasks, of which some may still be here.
    if (answer?.isError || (answer?.data && !answer.isPlaceholderData)) ids.forEach((id) => found.set(id, null));
  });
  const meanwhile = answers.filter((one) => one.isPlaceholderData);
  const now = answers.filter((one) => !one.isPlaceholderData);
  for (const { data } of [...meanwhile, ...now]) data?.items.forEach((one) => found.set(one.task_id, one));
  return found;
}

export function useLately(ids: readonly number[]): Lately {
  const pages = pagesOf(ids);
  return useQueries({
    queries: pages.map((page) => {
      const params: Params<typeof PATH> = { query: { ids: page.join(","), last: 30 } };
      return {
        queryKey: [PATH, params],
        queryFn: ({ signal }: { signal: AbortSignal }) => fetchPath(PATH, params, signal),
        refetchInterval: BENEATH,
        placeholderData: keepPreviousData,
      };
    }),
    combine: (answers) => gathered(pages, answers as Answered[]),
  });
}
