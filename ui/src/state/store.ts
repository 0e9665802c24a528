// The smallest store that React can read: a value, and whom to tell when it changes.
import { useSyncExternalStore } from "react";

export type Store<Value> = {
  get: () => Value;
  set: (value: Value) => void;
  subscribe: (hear: () => void) => () => void;
};

export function create<Value>(first: Value): Store<Value> {
  let value = first;
  const heard = new Set<() => void>();
  return {
    get: () => value,
    set: (next) => {
      if (Object.is(next, value)) return;
      value = next;
      heard.forEach((hear) => hear());
    },
    subscribe: (hear) => {
      heard.add(hear);
      return () => heard.delete(hear);
    },
  };
}

export function useStore<Value>(store: Store<Value>): Value {
  return useSyncExternalStore(store.subscribe, store.get);
}
