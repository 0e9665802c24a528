// Where somebody is in the wizard: all of it is in the address, so that back, forward, reload and sending it work.
import { useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { queryOptions, useQuery } from "@tanstack/react-query";

import { answer, client } from "../../api/client";
import type { Refusal } from "../../api/refusal";
import { readConfig, type Config } from "./config";
import type { Preview } from "./plan";

export const STEPS = ["configure", "preview", "approve", "live"] as const;
export type StepName = (typeof STEPS)[number];
type Search = { step?: string; config?: string; plan?: string; instance?: string; undo?: string };

export type Place = {
  kind: string;
  step: StepName;
  config: Config | null;
  /** As it is in the address. */
  text: string | null;
  /** The hash of the plan that was looked at. */
  plan: string | null;
  instance: number | null;
  /** The instance that this one takes back. */
  undo: number | null;
  go: (search: Search, settings?: { replace?: boolean; kind?: string }) => void;
};

export function usePlace(): Place {
  const { kind = "" } = useParams({ strict: false });
  const search: Search = useSearch({ strict: false });
  const navigate = useNavigate();
  const instance = number(search.instance);
  const config = readConfig(search.config);
  const wanted = STEPS.find((one) => one === search.step) ?? "configure";
  // What the address lacks is asked for first.
  const step = instance !== null ? "live" : wanted === "live" || config === null ? "configure" : wanted;
  return {
    kind,
    step,
    config,
    text: config === null ? null : (search.config ?? null),
    plan: search.plan ?? null,
    instance,
    undo: number(search.undo),
    go: (next, { replace = false, kind: other = kind } = {}) => {
      void navigate({ to: "/operations/$kind", params: { kind: other }, search: next as never, replace });
    },
  };
}

function number(text: string | undefined): number | null {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : null;
}

/** Looked at once, and again when asked: a plan must not change while somebody reads it. */
export function previewOf(kind: string, text: string) {
  return queryOptions<Preview, Refusal>({
    queryKey: ["operation preview", kind, text],
    queryFn: ({ signal }) =>
      answer(
        client.POST("/api/v1/operations/{kind}/preview", {
          params: { path: { kind } },
          body: { config: readConfig(text) ?? {} },
          signal,
        }),
      ),
    staleTime: Infinity,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  });
}

export function usePreview({ kind, text }: Place) {
  return useQuery({ ...previewOf(kind, text ?? ""), enabled: text !== null });
}
