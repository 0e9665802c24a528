// Whose clock the schedule follows: every zone there is, by name or offset.
import { Select } from "antd";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import type { Refusal } from "../../api/refusal";
import { described, Frame } from "../../parts/schema/frame";
import { browserZone } from "../../time/format";
import { useEditing, useFaults } from "./context";
import { allZones, offsetOf } from "./words";

export function Zone({ refused }: { refused: Refusal | null }) {
  const { t } = useTranslation("editor");
  const { draft, set } = useEditing();
  const live = refused?.faults.filter(({ field }) => field === "timezone").map(({ message }) => message) ?? [];
  const faults = [...new Set([...live, ...useFaults("timezone")])];
  const [opened, setOpened] = useState(false);
  const zone = draft.timezone;
  // Four hundred offsets are worked out only for who opens the list.
  const options = useMemo(() => {
    const now = new Date();
    const mine = browserZone();
    const first = [...new Set([zone, mine, "UTC"])];
    const all = opened ? [...first, ...allZones().filter((one) => !first.includes(one))] : first;
    return all.map((one) => ({ value: one, label: one, offset: offsetOf(one, now), mine: one === mine }));
  }, [opened, zone]);
  return (
    <Frame id="editor-timezone" label={t("fields.timezone")} name="timezone" faults={faults} help={t("help.timezone")}>
      <Select
        id="editor-timezone"
        showSearch={{
          filterOption: (typed, option) =>
            option !== undefined && matches(typed, `${option.value} ${option.offset}`.toLowerCase()),
        }}
        status={faults.length > 0 ? "error" : undefined}
        {...described("editor-timezone", { help: true, bad: faults.length > 0, required: false })}
        value={zone}
        onOpenChange={(open) => open && setOpened(true)}
        onChange={(next: string) => set({ timezone: next })}
        options={options}
        labelRender={({ value }) => `${String(value)} (${offsetOf(String(value), new Date())})`}
        optionRender={({ data }) => (
          <span className="editor-zone">
            <span>
              {data.value} {data.mine && <span className="dim">{t("myClock")}</span>}
            </span>
            <span className="dim number">{data.offset}</span>
          </span>
        )}
      />
    </Frame>
  );
}

/** All words typed, in any order: "asia +8", "new york". */
function matches(typed: string, name: string): boolean {
  return typed
    .toLowerCase()
    .split(/[\s_]+/)
    .every((word) => name.includes(word));
}
