// The whole task in a few sentences.
import { useTranslation } from "react-i18next";

import { partsIn } from "../../time/format";
import { useEditing } from "./context";
import { storyOf } from "./story";

export function Story({ sentence, next }: { sentence: string | null; next: string | null }) {
  const { t } = useTranslation("editor");
  const { draft, names } = useEditing();
  const at = next === null ? null : partsIn(new Date(next), draft.timezone, { seconds: false });
  const told = storyOf(draft, {
    when: sentence,
    next: at === null ? null : `${at.date} ${at.clock}`,
    upstream: draft.dependency_ids.map((id) => names.get(id) ?? `#${id}`),
  });
  return (
    <div className="editor-story" role="note" aria-label={t("storyTitle")}>
      <h3>{t("storyTitle")}</h3>
      <p>{told.map(({ word, values }) => t(`story.${word}`, values)).join(t("storyBetween"))}</p>
    </div>
  );
}
