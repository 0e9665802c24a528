// What a kind is called in the reader's language; one of another package is called what it calls itself.
import { useTranslation } from "react-i18next";

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
