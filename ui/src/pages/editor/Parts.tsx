// The sections of the editor: what, when, and everything that has a default.
import { Select } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Chips } from "../../parts/schema/Chips";
import { Frame } from "../../parts/schema/frame";
import { MapControl } from "../../parts/schema/MapControl";
import { shapeOf } from "../../parts/schema/shape";
import { Args } from "./Args";
import { useEditing, useFaults } from "./context";
import { Dependencies } from "./Dependencies";
import { Payload, useKinds } from "./Payload";
import { Preview } from "./Preview";
import { ChoiceRow, FlagRow, NumberRow, TextRow } from "./rows";
import { Schedule } from "./Schedule";
import { formOf } from "./schedule";
import { Section } from "./Section";
import { Story } from "./Story";
import { usePreview } from "./usePreview";
import { useSentence } from "./useSentence";

export function Parts({ buttons }: { buttons: ReactNode }) {
  const { t } = useTranslation("editor");
  const { draft, id } = useEditing();
  const { preview, refused } = usePreview(draft.schedule, draft.timezone);
  const sentence = useSentence(draft.schedule, preview);
  return (
    <div className="editor-columns">
      <div className="editor-main">
        <section className="editor-section">
          <h2 className="editor-heading">{t("sections.what")}</h2>
          <div className="schema-grid editor-first">
            <TextRow name="name" required focus={id === null} help={t("help.name")} placeholder="close_books" />
            <TypeRow />
            <GroupRow />
            <FlagRow name="enabled" help={t(draft.enabled ? "help.enabled" : "help.disabled")} />
          </div>
          <Payload />
        </section>
        <section className="editor-section">
          <h2 className="editor-heading">{t("sections.when")}</h2>
          <Schedule refused={refused} sentence={sentence} />
        </section>
        <Section name="dependencies" wanted={formOf(draft.schedule) === "upstream"}>
          <Dependencies />
        </Section>
        <Section name="retries">
          <Retries />
        </Section>
        <Section name="lateness">
          <Lateness />
        </Section>
        <Section name="placing">
          <Placing />
        </Section>
        <Section name="args">
          <Args />
        </Section>
        <Section name="about">
          <div className="schema-grid">
            <TextRow name="description" long wide help={t("help.description")} />
            <TextRow name="owner" help={t("help.owner")} />
            <Tags />
          </div>
        </Section>
      </div>
      <aside className="editor-aside">
        <Preview preview={preview} schedule={draft.schedule} timezone={draft.timezone} wrong={refused !== null} />
        <Story sentence={sentence} next={preview?.instants[0] ?? null} />
        <div className="editor-buttons">{buttons}</div>
      </aside>
    </div>
  );
}

function TypeRow() {
  const { t, i18n } = useTranslation("editor");
  const { draft, set } = useEditing();
  const faults = useFaults("type");
  const kinds = useKinds();
  const runners = (kinds.data?.items ?? []).filter((kind) => kind.role === "runner");
  const known = [...new Set([...runners.map((kind) => kind.name), draft.type])];
  const said = (name: string) => (i18n.exists(`editor:types.${name}`) ? t(`types.${name}`) : name);
  const about = i18n.exists(`editor:typesMean.${draft.type}`)
    ? t(`typesMean.${draft.type}`)
    : runners.find((kind) => kind.name === draft.type)?.description;
  return (
    <Frame id="editor-type" label={t("fields.type")} name="type" required faults={faults} help={about}>
      <Select
        id="editor-type"
        value={draft.type}
        aria-required
        onChange={(next: string) => set({ type: next as typeof draft.type, payload: {} })}
        options={known.map((name) => ({ value: name, label: said(name) }))}
      />
    </Frame>
  );
}

function GroupRow() {
  const { t } = useTranslation("editor");
  const { draft, set } = useEditing();
  const faults = useFaults("group");
  const groups = useGet("/api/v1/groups", {}, { every: false });
  const items = groups.data?.items ?? [];
  const known = [...new Set([...items.map((group) => group.name), draft.group])];
  const titles = new Map(items.map((group) => [group.name, group.title]));
  return (
    <Frame id="editor-group" label={t("fields.group")} name="group" faults={faults} help={t("help.group")}>
      <Select
        id="editor-group"
        showSearch={{ optionFilterProp: "label" }}
        status={faults.length > 0 ? "error" : undefined}
        value={draft.group}
        onChange={(next: string) => set({ group: next })}
        options={known.map((name) => ({
          value: name,
          label: titles.get(name) ? `${name} (${titles.get(name) ?? ""})` : name,
        }))}
      />
    </Frame>
  );
}

function Retries() {
  const { t } = useTranslation("editor");
  const { draft } = useEditing();
  const again = (draft.max_retries ?? 0) > 0;
  return (
    <div className="schema-grid">
      <NumberRow name="max_retries" placeholder={t("never")} help={t("help.max_retries")} />
      {again && <NumberRow name="retry_delay_seconds" unit="seconds" help={t("help.retry_delay_seconds")} />}
      {again && <ChoiceRow name="retry_backoff" options={["exponential", "fixed"]} />}
      <NumberRow name="timeout_seconds" unit="seconds" placeholder={t("unlimited")} help={t("help.timeout_seconds")} />
      <ChoiceRow name="executor_loss_policy" options={["requeue", "fail"]} />
    </div>
  );
}

function Lateness() {
  const { t } = useTranslation("editor");
  const { draft } = useEditing();
  return (
    <div className="schema-grid">
      <ChoiceRow name="misfire_policy" options={["fire_once", "skip", "catch_up"]} />
      <NumberRow name="misfire_grace_seconds" unit="seconds" help={t("help.misfire_grace_seconds")} />
      {draft.misfire_policy === "catch_up" && <NumberRow name="catch_up_limit" help={t("help.catch_up_limit")} />}
      <ChoiceRow name="overlap_policy" options={["skip", "serial", "replace", "parallel"]} />
    </div>
  );
}

const TEXTS = { type: "object", additionalProperties: { type: "string" } };

function Placing() {
  const { t } = useTranslation("editor");
  const { draft, set, faults } = useEditing();
  const told = useFaults("executor_labels");
  const labels = shapeOf(TEXTS, TEXTS);
  return (
    <div className="schema-grid">
      <NumberRow name="priority" help={t("help.priority")} />
      <FlagRow name="broadcast" help={t("help.broadcast")} />
      <TextRow name="concurrency_key" help={t("help.concurrency_key")} />
      {draft.concurrency_key !== null && <NumberRow name="concurrency_limit" help={t("help.concurrency_limit")} />}
      <Frame
        id="editor-executor_labels"
        label={t("fields.executor_labels")}
        name="executor_labels"
        faults={told}
        group
        wide
        help={t("help.executor_labels")}
      >
        {labels.is === "map" && (
          <MapControl
            id="editor-executor_labels"
            shape={labels}
            value={draft.executor_labels}
            onChange={(next) => set({ executor_labels: (next ?? {}) as Record<string, string> })}
            faults={faults.filter(({ field }) => field.startsWith("executor_labels."))}
            required
            label={t("fields.executor_labels")}
          />
        )}
      </Frame>
    </div>
  );
}

const WORDS = { type: "array", items: { type: "string" } };

function Tags() {
  const { t } = useTranslation("editor");
  const { draft, set } = useEditing();
  const told = useFaults("tags");
  const shape = shapeOf(WORDS, WORDS);
  if (shape.is !== "list") return null;
  return (
    <Frame id="editor-tags" label={t("fields.tags")} name="tags" faults={told} help={t("help.tags")}>
      <Chips
        id="editor-tags"
        shape={shape}
        items={draft.tags}
        numbers={false}
        onChange={(next) => set({ tags: next.map(String) })}
        faults={[]}
        required={false}
        label={t("fields.tags")}
      />
    </Frame>
  );
}
