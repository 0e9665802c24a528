// What the server names by a code (kinds, their fields, phases, preconditions) in the reader's language; what another
// package brings with it is called what it calls itself.
import { useTranslation } from "react-i18next";

import type { FieldWords } from "./fields";
import type { Kind, Shown } from "./kinds";

export function useKindWords(): (kind: Kind) => Shown {
  const { t, i18n } = useTranslation("operations");
  return (kind) => {
    const known = i18n.exists(`operations:kinds.${kind.name}.title`);
    return {
      kind,
      title: known ? t(`kinds.${kind.name}.title`) : (kind.title ?? kind.name),
      about: known ? t(`kinds.${kind.name}.about`) : kind.description,
    };
  };
}

/** English has none of its own: the server's are English. */
export function useFieldWords(kind: string): (field: string) => FieldWords | undefined {
  const { i18n } = useTranslation("operations");
  // A field of another package's kind may mean something else by the same name, but for those that every kind has.
  const places = i18n.exists(`operations:kinds.${kind}.title`) ? [kind, "common", "every"] : ["every"];
  return (field) => {
    for (const place of places) {
      const found: unknown = i18n.getResource(i18n.language, "fields", `${place}.${field}`);
      if (found !== undefined) return found as FieldWords;
    }
    return undefined;
  };
}

export function usePlanWords(): { phase: (name: string) => string; precondition: (name: string) => string } {
  const { t, i18n } = useTranslation("operations");
  return {
    phase: (name) => (i18n.exists(`operations:phase.${name}`) ? t(`phase.${name}`) : name),
    precondition: (name) => (i18n.exists(`operations:precondition.${name}`) ? t(`precondition.${name}`) : name),
  };
}
