// When it fires: one text, and several ways to write it.
import { Input, Segmented, Select, Switch } from "antd";
import { useTranslation } from "react-i18next";

import { described, Frame } from "../../parts/schema/frame";
import type { Refusal } from "../../api/refusal";
import { tomorrowAtNine, wallClock } from "../../time/local";
import { useEditing, useFaults } from "./context";
import { beginning, FIVE, formOf, partsOf, PRESETS, SEVEN, withPart, wallOf, withSeconds, type Form } from "./schedule";
import { Zone } from "./Zone";

const FORMS: readonly Form[] = ["cron", "every", "after", "at", "upstream", "manual"];

export function Schedule({ refused, sentence }: { refused: Refusal | null; sentence: string | null }) {
  const { t } = useTranslation("editor");
  const { draft, set } = useEditing();
  const told = useFaults("schedule");
  const live = refused?.faults.filter(({ field }) => field === "schedule").map(({ message }) => message) ?? [];
  const faults = [...new Set([...live, ...told])];
  const form = formOf(draft.schedule);
  const change = (schedule: string) => set({ schedule });
  return (
    <div className="editor-schedule">
      <Segmented
        className="editor-forms"
        aria-label={t("forms.label")}
        value={form}
        options={FORMS.map((one) => ({ value: one, label: t(`forms.${one}`) }))}
        onChange={(next) => change(beginning(next, draft.schedule, tomorrow(draft.timezone)))}
      />
      <div className="schema-grid">
        <Frame
          id="editor-schedule"
          label={t("fields.schedule")}
          name="schedule"
          required
          faults={faults}
          help={sentence ?? t(`formsMean.${form}`)}
        >
          <Input
            id="editor-schedule"
            className="mono"
            autoComplete="off"
            spellCheck={false}
            status={faults.length > 0 ? "error" : undefined}
            {...described("editor-schedule", { help: true, bad: faults.length > 0, required: true })}
            value={draft.schedule}
            onChange={({ target }) => change(target.value)}
          />
        </Frame>
        {form === "cron" && <Presets onChange={change} />}
        {form === "at" && <Moment schedule={draft.schedule} zone={draft.timezone} onChange={change} />}
        <Zone refused={refused} />
      </div>
      {form === "cron" && <Cron schedule={draft.schedule} onChange={change} />}
    </div>
  );
}

function Presets({ onChange }: { onChange: (schedule: string) => void }) {
  const { t } = useTranslation("editor");
  return (
    <Frame id="editor-preset" label={t("presets.label")} faults={[]}>
      <Select
        id="editor-preset"
        value={null}
        placeholder={t("presets.choose")}
        popupMatchSelectWidth={false}
        onChange={(next: string | null) => next !== null && onChange(next)}
        options={PRESETS.map(({ name, schedule }) => ({
          value: schedule,
          label: `${t(`presets.${name}`)}  ${schedule}`,
        }))}
      />
    </Frame>
  );
}

type MomentProps = { schedule: string; zone: string; onChange: (schedule: string) => void };

/** What is chosen is written as it is: a time of the task's clock, whatever clock the browser has. */
function Moment({ schedule, zone, onChange }: MomentProps) {
  const { t } = useTranslation("editor");
  return (
    <Frame id="editor-at" label={t("moment")} faults={[]} help={t("momentHelp")}>
      <Input
        id="editor-at"
        type="datetime-local"
        step={1}
        suffix={<span className="zone">{zone}</span>}
        value={wallOf(schedule, zone)}
        onChange={({ target }) => target.value !== "" && onChange(`@at ${target.value}`)}
      />
    </Frame>
  );
}

function tomorrow(zone: string): string {
  return wallClock(tomorrowAtNine(new Date(), zone), zone);
}

/** The fields of a cron expression, one by one. */
function Cron({ schedule, onChange }: { schedule: string; onChange: (schedule: string) => void }) {
  const { t } = useTranslation("editor");
  const parts = partsOf(schedule);
  if (parts === null) return null;
  const quartz = "second" in parts;
  const names = quartz ? SEVEN : FIVE;
  return (
    <div className="editor-cron" role="group" aria-label={t("cron.label")}>
      {names.map((name) => (
        <label key={name} className="editor-part">
          <span>{t(`cron.${name}`)}</span>
          <Input
            className="mono"
            aria-label={t(`cron.${name}`)}
            title={name === "weekday" && quartz ? t("cron.weekdayQuartz") : t(`cronTips.${name}`)}
            placeholder={name === "year" ? "*" : undefined}
            value={parts[name] ?? ""}
            onChange={({ target }) => onChange(withPart(schedule, name, target.value))}
          />
        </label>
      ))}
      <label className="editor-part editor-quartz">
        <span>{t("cron.seconds")}</span>
        <Switch size="small" checked={quartz} onChange={(next) => onChange(withSeconds(schedule, next))} />
      </label>
    </div>
  );
}
