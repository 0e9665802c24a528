// What it runs after: found by name, with a small picture of what lies around it.
import { Link } from "@tanstack/react-router";
import { Select } from "antd";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { described, Frame } from "../../parts/schema/frame";
import { useEditing, useFaults } from "./context";
import { ChoiceRow, NumberRow } from "./rows";

export function Dependencies() {
  const { t } = useTranslation("editor");
  const { draft } = useEditing();
  const some = draft.dependency_ids.length > 0;
  return (
    <>
      <div className="schema-grid">
        <Upstream />
        {some && draft.dependency_ids.length > 1 && <ChoiceRow name="dependency_mode" options={["all", "any"]} />}
        {some && <ChoiceRow name="upstream_failure_policy" options={["wait", "fail", "run"]} />}
        {some && (
          <NumberRow name="dependency_timeout_seconds" unit="seconds" help={t("help.dependency_timeout_seconds")} />
        )}
      </div>
      <Around />
    </>
  );
}

function Upstream() {
  const { t } = useTranslation("editor");
  const { draft, set, names, learn, id } = useEditing();
  const faults = useFaults("dependency_ids");
  const [typed, setTyped] = useState("");
  const found = useGet("/api/v1/tasks", { query: { q: typed || undefined, limit: 30 } }, { every: false, keep: true });
  const items = found.data?.items;
  useEffect(() => {
    if (items) learn(items);
  }, [items, learn]);
  const seen = (items ?? []).filter((task) => task.id !== id);
  return (
    <Frame
      id="editor-dependency_ids"
      label={t("fields.dependency_ids")}
      name="dependency_ids"
      faults={faults}
      wide
      help={t("help.dependency_ids")}
    >
      <Select
        id="editor-dependency_ids"
        mode="multiple"
        showSearch={{ filterOption: false, onSearch: setTyped }}
        status={faults.length > 0 ? "error" : undefined}
        {...described("editor-dependency_ids", { help: true, bad: faults.length > 0, required: false })}
        placeholder={t("searchTasks")}
        value={draft.dependency_ids}
        onChange={(next: number[]) => set({ dependency_ids: next })}
        labelRender={({ value }) => names.get(Number(value)) ?? `#${String(value)}`}
        options={seen.map((task) => ({ value: task.id, label: task.name, hint: task.schedule }))}
        optionRender={({ data }) => (
          <span className="editor-zone">
            <span>{data.label}</span>
            <span className="dim mono">{data.hint}</span>
          </span>
        )}
        notFoundContent={<span className="dim">{t("noTask", { text: typed })}</span>}
      />
    </Frame>
  );
}

/** What it waits for on the left, what waits for it on the right. */
function Around() {
  const { t } = useTranslation("editor");
  const { draft, names, learn, id } = useEditing();
  const graph = useGet("/api/v1/tasks/graph", { query: { task_id: id ?? 0 } }, { enabled: id !== null, every: false });
  const nodes = graph.data?.nodes;
  useEffect(() => {
    if (nodes) learn(nodes);
  }, [nodes, learn]);
  const after = (graph.data?.edges ?? []).filter((edge) => edge.depends_on_id === id).map((edge) => edge.task_id);
  if (draft.dependency_ids.length === 0 && after.length === 0) return null;
  const list = (ids: readonly number[], none: string) => (
    <ul>
      {ids.length === 0 && <li className="dim">{none}</li>}
      {ids.map((one) => (
        <li key={one}>
          <Link to="/tasks/$id" params={{ id: String(one) }} target="_blank">
            {names.get(one) ?? `#${one}`}
          </Link>
        </li>
      ))}
    </ul>
  );
  return (
    <div className="editor-around" role="group" aria-label={t("around.label")}>
      {list(draft.dependency_ids, t("around.nothing"))}
      <span aria-hidden="true">→</span>
      <strong>{draft.name === "" ? t("around.this") : draft.name}</strong>
      <span aria-hidden="true">→</span>
      {list(after, t("around.nobody"))}
    </div>
  );
}
