// Whose clock the schedule follows.
import { useTranslation } from "react-i18next";

import type { Refusal } from "../../api/refusal";
import { described, Frame } from "../../parts/schema/frame";
import { ZoneSelect } from "../../parts/ZoneSelect";
import { useEditing, useFaults } from "./context";

export function Zone({ refused }: { refused: Refusal | null }) {
  const { t } = useTranslation("editor");
  const { draft, set } = useEditing();
  const live = refused?.faults.filter(({ field }) => field === "timezone").map(({ message }) => message) ?? [];
  const faults = [...new Set([...live, ...useFaults("timezone")])];
  return (
    <Frame id="editor-timezone" label={t("fields.timezone")} name="timezone" faults={faults} help={t("help.timezone")}>
      <ZoneSelect
        id="editor-timezone"
        status={faults.length > 0 ? "error" : undefined}
        {...described("editor-timezone", { help: true, bad: faults.length > 0, required: false })}
        value={draft.timezone}
        onChange={(timezone) => set({ timezone })}
      />
    </Frame>
  );
}
