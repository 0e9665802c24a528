// Reading: what was fetched is kept under its path and parameters, and fetched again when an event says so (live.ts).
import { keepPreviousData, useQuery, useQueryClient, type UseQueryResult } from "@tanstack/react-query";

import { answer, client } from "./client";
import type { Refusal } from "./refusal";
import type { paths } from "./schema";
import { begins } from "./topics";

type Operation<P extends keyof paths> = paths[P] extends { get: infer O } ? O : never;
type Json<O> = O extends { responses: { 200: { content: { "application/json": infer A } } } } ? A : never;

/** Every path that answers a GET with JSON. */
export type GetPath = { [P in keyof paths]: Json<Operation<P>> extends never ? never : P }[keyof paths];
export type Answer<P extends GetPath> = Json<Operation<P>>;
type Part<O, Name extends "path" | "query"> = O extends { parameters: infer Ps }
  ? Name extends keyof Ps
    ? Ps[Name]
    : undefined
  : undefined;
export type Params<P extends GetPath> = {
  path?: Part<Operation<P>, "path">;
  query?: Part<Operation<P>, "query">;
};

/** How often something is fetched again although no event told of it. */
export const BENEATH = 20_000;

export type Settings = {
  enabled?: boolean;
  /** Milliseconds; false for what is read once, and only events or own doings fetch again. */
  every?: number | false;
  /** Show what was there while other parameters are fetched. */
  keep?: boolean;
};

export function fetchPath<P extends GetPath>(path: P, params: Params<P>, signal?: AbortSignal): Promise<Answer<P>> {
  const get = client.GET as unknown as (
    path: P,
    init: { params: Params<P>; signal?: AbortSignal },
  ) => Promise<{ data?: Answer<P>; error?: unknown; response: Response }>;
  return answer(get(path, { params, signal }));
}

export function useGet<P extends GetPath>(
  path: P,
  params: Params<P> = {},
  { enabled = true, every = BENEATH, keep = false }: Settings = {},
): UseQueryResult<Answer<P>, Refusal> {
  return useQuery<Answer<P>, Refusal>({
    queryKey: [path, params],
    queryFn: ({ signal }) => fetchPath(path, params, signal),
    enabled,
    refetchInterval: every,
    placeholderData: keep ? keepPreviousData : undefined,
  });
}

/** Fetch again whatever was read from paths that begin so, such as "/api/v1/tasks". */
export function useRefresh(): (...beginnings: string[]) => Promise<void> {
  const queries = useQueryClient();
  return async (...beginnings) => {
    await queries.invalidateQueries({ predicate: (query) => begins(query.queryKey[0], beginnings) });
  };
}
