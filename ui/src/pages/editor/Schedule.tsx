// When it fires: one text, and several ways to write it.
import { DatePicker, Input, Segmented, Select, Switch } from "antd";
import dayjs from "dayjs";
import { useTranslation } from "react-i18next";

import { described, Frame } from "../../parts/schema/frame";
import type { Refusal } from "../../api/refusal";
import { useEditing, useFaults } from "./context";
import {
  argumentOf,
  beginning,
  FIVE,
  formOf,
  partsOf,
  PRESETS,
  SEVEN,
  withPart,
  withSeconds,
  type Form,
} from "./schedule";
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
        onChange={(next) => change(beginning(next, draft.schedule, dayjs().add(1, "day").format("YYYY-MM-DDT09:00")))}
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
        {form === "at" && <Moment schedule={draft.schedule} onChange={change} />}
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

function Moment({ schedule, onChange }: { schedule: string; onChange: (schedule: string) => void }) {
  const { t } = useTranslation("editor");
  const at = dayjs(argumentOf(schedule).slice(0, 19)); // by the task's clock: an offset is written by hand
  return (
    <Frame id="editor-at" label={t("moment")} faults={[]} help={t("momentHelp")}>
      <DatePicker
        id="editor-at"
        showTime
        allowClear={false}
        value={at.isValid() ? at : null}
        onChange={(next) => next && onChange(`@at ${next.format("YYYY-MM-DDTHH:mm:ss")}`)}
      />
    </Frame>
  );
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
