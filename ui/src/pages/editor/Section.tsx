// A part of the editor that is folded until somebody needs it, and says what is not as by default.
import { useState, type ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { lengthOf } from "../../time/format";
import { useEditing } from "./context";
import { changedIn, SECTIONS, type SectionName } from "./story";

type Props = {
  name: SectionName;
  /** What was chosen elsewhere needs something in here: it opens by itself. */
  wanted?: boolean;
  children: ReactNode;
};

export function Section({ name, wanted = false, children }: Props) {
  const { t } = useTranslation("editor");
  const { draft, faults, names } = useEditing();
  const changed = changedIn(name, draft);
  const [open, setOpen] = useState(wanted);
  const [wasWanted, setWasWanted] = useState(wanted);
  if (wasWanted !== wanted) {
    setWasWanted(wanted);
    if (wanted) setOpen(true);
  }
  const wrong = faults.some(({ field }) => SECTIONS[name].some((one) => field === one || field.startsWith(`${one}.`)));
  const seen = open || wrong; // a fault is never hidden
  const summary = changed.map((field) =>
    said(
      t(`fields.${field}`),
      field === "dependency_ids" ? draft[field].map((id) => names.get(id) ?? `#${id}`) : withUnit(field, draft[field]),
    ),
  );
  return (
    <section className="editor-section">
      <h2>
        <button
          type="button"
          className="schema-fold"
          aria-expanded={seen}
          aria-controls={`section-${name}`}
          onClick={() => setOpen(!seen)}
        >
          <span className="schema-caret" aria-hidden="true" />
          {t(`sections.${name}`)}
          <span className="dim editor-summary">{summary.length === 0 ? t("asDefault") : summary.join(" · ")}</span>
        </button>
      </h2>
      <div id={`section-${name}`} hidden={!seen}>
        {children}
      </div>
    </section>
  );
}

function withUnit(field: string, value: unknown): unknown {
  return field.endsWith("_seconds") && typeof value === "number" ? lengthOf(value * 1_000) : value;
}

/** A field and its value, as short as it can be said. */
function said(label: string, value: unknown): string {
  if (Array.isArray(value)) return `${label}: ${value.length <= 3 ? value.join(", ") : value.length}`;
  if (typeof value === "object" || value === true) return label;
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return `${label}: ${text.length > 40 ? `${text.slice(0, 40)}…` : text}`;
}
