// A rule's condition and scope, in words.
import { useTranslation } from "react-i18next";

import { choiceOf, holesOf, scopeOf, type Condition } from "./conditions";

export function Said({ condition, scope }: { condition: Condition; scope: unknown }) {
  const { t } = useTranslation("alerts");
  const { of, name } = scopeOf(scope);
  return (
    <>
      {t(`condition.${choiceOf(condition)}`, { ...holesOf(condition), defaultValue: condition.kind })}{" "}
      <span className="dim">· {t(`scope.${of}`, { name })}</span>
    </>
  );
}
