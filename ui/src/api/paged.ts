// Reading a list page by page, the newest first; what was read is kept together and fetched again together.
import { useInfiniteQuery } from "@tanstack/react-query";

import { BENEATH, fetchPath, type Answer, type GetPath, type Params } from "./queries";
import type { Refusal } from "./refusal";

type Page = { items: unknown[]; next_cursor?: string | null };
/** Every path that answers with a page. */
export type ListPath = { [P in GetPath]: Answer<P> extends Page ? P : never }[GetPath];
type Item<P extends ListPath> = Answer<P> extends { items: (infer One)[] } ? One : never;

export type Paged<One> = {
  items: One[];
  /** Nothing has come yet. */
  first: boolean;
  refusal: Refusal | null;
  /** Whether there is more, as far as is known. */
  more: boolean;
  /** How many pages were read, those without items included. */
  pages: number;
  /** Where the next page begins. */
  cursor: string | null;
  fetching: boolean;
  next: () => void;
  again: () => void;
};

export function usePaged<P extends ListPath>(
  path: P,
  query: NonNullable<Params<P>["query"]>,
  { enabled = true, every = BENEATH, at }: { enabled?: boolean; every?: number | false; at?: Params<P>["path"] } = {},
): Paged<Item<P>> {
  const found = useInfiniteQuery<Answer<P>, Refusal, { pages: Answer<P>[] }, unknown[], string | null>({
    queryKey: [path, query, "paged", at],
    queryFn: ({ pageParam, signal }) => {
      const asked = {
        path: at,
        query: { ...(query as object), ...(pageParam === null ? {} : { cursor: pageParam }) },
      } as unknown as Params<P>;
      return fetchPath(path, asked, signal);
    },
    initialPageParam: null,
    getNextPageParam: (page) => (page as Page).next_cursor ?? null,
    enabled,
    // All that was read is fetched again page after page: the more there is, the less often.
    refetchInterval: (kept) => every && every * Math.max(1, kept.state.data?.pages.length ?? 1),
    // Other filters show what was there until the answer comes, so that nothing jumps.
    placeholderData: (before) => before,
  });
  return {
    items: (found.data?.pages ?? []).flatMap((page) => (page as Page).items as Item<P>[]),
    first: found.isPending,
    refusal: found.error,
    more: found.hasNextPage,
    pages: found.data?.pages.length ?? 0,
    cursor: (found.data?.pages.at(-1) as Page | undefined)?.next_cursor ?? null,
    fetching: found.isFetchingNextPage,
    next: () => void found.fetchNextPage(),
    again: () => void found.refetch(),
  };
}
