// What every part of the editor reads and writes.
import { createContext, useContext } from "react";

import type { FieldFault } from "../../api/refusal";
import type { Draft, FieldName } from "./draft";

export type Editing = {
  draft: Draft;
  set: (change: Partial<Draft>) => void;
  /** What the server said against it; forgotten field by field as they are changed. */
  faults: readonly FieldFault[];
  /** Names of tasks by id, as far as they have been seen. */
  names: ReadonlyMap<number, string>;
  learn: (seen: readonly { id: number; name: string }[]) => void;
  /** The task that is edited; null for a new one. */
  id: number | null;
  broken: (field: string, is: boolean) => void;
};

export const EditingContext = createContext<Editing | null>(null);

export function useEditing(): Editing {
  const editing = useContext(EditingContext);
  if (editing === null) throw new Error("used outside of the editor");
  return editing;
}

/** What is said against a field as a whole. */
export function useFaults(name: FieldName): string[] {
  const { faults } = useEditing();
  return faults
    .filter(({ field }) => field === name || field.startsWith(`${name}.`))
    .map(({ field, message }) => (field === name ? message : `${field.slice(name.length + 1)}: ${message}`));
}
