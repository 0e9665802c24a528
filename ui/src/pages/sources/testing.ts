// Trying to connect, and what became of it: kept while the page is open.
import { useState } from "react";

import { answer, client } from "../../api/client";
import { Refusal } from "../../api/refusal";
import { useRefresh } from "../../api/queries";
import type { components } from "../../api/schema";

export type Tested = components["schemas"]["DataSourceTested"] & { at: string };
export type Outcome = { pending: boolean; tested: Tested | null; refusal: Refusal | null };
export type Tests = { of: (id: number) => Outcome; run: (id: number) => Promise<void> };
const NONE: Outcome = { pending: false, tested: null, refusal: null };

export function useTests(): Tests {
  const [outcomes, setOutcomes] = useState<Readonly<Record<number, Outcome>>>({});
  const refresh = useRefresh();
  const put = (id: number, outcome: Outcome) => setOutcomes((old) => ({ ...old, [id]: outcome }));
  return {
    of: (id) => outcomes[id] ?? NONE,
    run: async (id) => {
      put(id, { ...(outcomes[id] ?? NONE), pending: true });
      try {
        const said = await answer(
          client.POST("/api/v1/data-sources/{source_id}/test", { params: { path: { source_id: id } } }),
        );
        put(id, { pending: false, tested: { ...said, at: new Date().toISOString() }, refusal: null });
        await refresh("/api/v1/data-sources"); // MariaDB that was entered as MySQL is known as what it is from now on
      } catch (reason) {
        if (!(reason instanceof Refusal)) throw reason;
        put(id, { pending: false, tested: null, refusal: reason });
      }
    },
  };
}
