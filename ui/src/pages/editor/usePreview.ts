// What the server makes of the schedule while it is typed.
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { answer, client } from "../../api/client";
import type { Refusal } from "../../api/refusal";
import type { components } from "../../api/schema";

export type Previewed = components["schemas"]["PreviewOutput"];
const PAUSE = 250;

export function usePreview(schedule: string, timezone: string): { preview: Previewed | null; refused: Refusal | null } {
  const [asked, setAsked] = useState({ schedule, timezone });
  useEffect(() => {
    const timer = window.setTimeout(() => setAsked({ schedule, timezone }), PAUSE);
    return () => window.clearTimeout(timer);
  }, [schedule, timezone]);
  const query = useQuery<Previewed, Refusal>({
    queryKey: ["preview", asked],
    queryFn: ({ signal }) => answer(client.POST("/api/v1/schedules/preview", { body: { ...asked, count: 8 }, signal })),
    retry: false,
    refetchInterval: 60_000,
    placeholderData: keepPreviousData,
  });
  // While somebody types, the last answer stands: neither the list nor the fault may flicker.
  return { preview: query.isError ? null : (query.data ?? null), refused: query.error };
}
