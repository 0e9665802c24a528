// Which rows are selected: by number, so that it outlives what happens to the list meanwhile.
import { useCallback, useRef, useState } from "react";

import { useStore } from "../../state/store";
import type { Instance } from "./feed";
import type { Feeding } from "./feeding";

export type Selection = {
  chosen: ReadonlyMap<number, Instance>;
  select: (row: Instance, on: boolean, range: boolean) => void;
  /** All that are remembered, or none. */
  all: (on: boolean) => void;
  clear: () => void;
};

export function useSelection(feeding: Feeding): Selection {
  const { feed } = useStore(feeding.state);
  const [ids, setIds] = useState<ReadonlyMap<number, Instance>>(new Map());
  const anchor = useRef<number | null>(null);

  const select = useCallback(
    (row: Instance, on: boolean, range: boolean) => {
      const rows = remembered(feeding);
      const from = rows.findIndex((one) => one.id === anchor.current);
      const to = rows.findIndex((one) => one.id === row.id);
      const meant = range && from >= 0 && to >= 0 ? rows.slice(Math.min(from, to), Math.max(from, to) + 1) : [row];
      anchor.current = row.id;
      setIds((before) => {
        const next = new Map(before);
        for (const one of meant)
          if (on) next.set(one.id, one);
          else next.delete(one.id);
        return next;
      });
    },
    [feeding],
  );
  const all = (on: boolean) => setIds(on ? new Map(remembered(feeding).map((row) => [row.id, row])) : new Map());
  // As they are now, where they can be seen.
  const now = new Map(ids);
  if (ids.size > 0) {
    for (const one of feed?.stretches ?? [])
      for (const row of one.rows ?? []) if (ids.has(row.id)) now.set(row.id, row);
  }
  const clear = useCallback(() => setIds(new Map()), []);
  return { chosen: now, select, all, clear };
}

function remembered(feeding: Feeding): Instance[] {
  return (feeding.state.get().feed?.stretches ?? []).flatMap((one) => one.rows ?? []);
}
