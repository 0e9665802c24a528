// An object with known keys: its fields, what is needed first, what has a default behind a fold.
import { CloseOutlined, PlusOutlined } from "@ant-design/icons";
import { Button } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Field } from "./Field";
import { useDrawing, type ControlProps } from "./frame";
import { isRecord, type Entry, type JsonSchema, type Shape } from "./shape";
import { labelOf, resolved, shapeOf } from "./shape";
import { put, seed, under, type Fault } from "./values";

type Props = ControlProps<Extract<Shape, { is: "record" }>>;
/** So many optional fields are shown at once, unless the page says otherwise; more are folded away. */
const FEW = 6;

export function RecordControl(props: Props) {
  const { t } = useTranslation("form");
  const { disabled } = useDrawing();
  const { id, value, onChange, required, label } = props;
  if (value === undefined && !required) {
    // Asked for first: a half-filled object that nobody wanted would be refused, and one that holds itself never end.
    return (
      <Button
        id={id}
        type="dashed"
        size="small"
        icon={<PlusOutlined />}
        disabled={disabled}
        onClick={() => onChange({})}
      >
        {t("set", { what: label })}
      </Button>
    );
  }
  return (
    <div className="schema-object">
      <Fields {...props} />
      {!required && (
        <Button
          type="text"
          size="small"
          icon={<CloseOutlined />}
          disabled={disabled}
          onClick={() => onChange(undefined)}
        >
          {t("unset", { what: label })}
        </Button>
      )}
    </div>
  );
}

export function Fields({ id, shape, value, onChange, faults }: Props) {
  const { root, few = FEW } = useDrawing();
  const object = isRecord(value) ? value : {};
  const marks = seed(
    { type: "object", properties: Object.fromEntries(shape.entries.map(({ name, schema }) => [name, schema])) },
    root,
  );
  const change = (name: string, next: unknown) =>
    onChange(put({ ...(isRecord(marks) ? marks : {}), ...object }, name, next));
  const known = new Set(shape.entries.map((entry) => entry.name));
  const shown = shape.entries.filter((entry) => shapeOf(entry.schema, root).is !== "constant");
  const isFirst = (entry: Entry) => entry.required || entry.schema["x-shown"] === true;
  const first = shown.filter(isFirst);
  const rest = shown.filter((entry) => !isFirst(entry));
  const others = Object.keys(object).filter((name) => !known.has(name));
  const draw = (entry: Entry) => (
    <Field
      key={entry.name}
      id={`${id}.${entry.name}`}
      name={entry.name}
      schema={entry.schema}
      value={object[entry.name]}
      onChange={(next) => change(entry.name, next)}
      faults={under(faults, entry.name)}
      required={entry.required}
    />
  );
  return (
    <>
      {first.length > 0 && <div className="schema-grid">{first.map(draw)}</div>}
      {rest.length > few ? (
        <Folded id={id} entries={rest} value={object} faults={faults}>
          <div className="schema-grid">{rest.map(draw)}</div>
        </Folded>
      ) : (
        rest.length > 0 && <div className="schema-grid">{rest.map(draw)}</div>
      )}
      {(others.length > 0 || shape.others !== null) && (
        <Others id={id} names={others} schema={shape.others} object={object} onChange={onChange} faults={faults} />
      )}
    </>
  );
}

type FoldedProps = {
  id: string;
  entries: readonly Entry[];
  value: Record<string, unknown>;
  faults: readonly Fault[];
  children: React.ReactNode;
};

function Folded({ id, entries, value, faults, children }: FoldedProps) {
  const { t } = useTranslation("form");
  const { root } = useDrawing();
  const [open, setOpen] = useState(false);
  const set = entries.filter((entry) => value[entry.name] !== undefined && value[entry.name] !== null);
  const wrong = entries.some((entry) => under(faults, entry.name).length > 0);
  const names = set.map(({ name, schema }) => labelOf(name, shapeOf(resolved(schema, root), root).title));
  const seen = open || wrong; // a fault is never hidden
  return (
    <div className="schema-folded">
      <button
        type="button"
        className="schema-fold"
        aria-expanded={seen}
        aria-controls={`${id}-more`}
        onClick={() => setOpen(!open)}
      >
        <span className="schema-caret" aria-hidden="true" />
        {t("optional", { count: entries.length })}
        <span className="dim">{names.length > 0 ? t("setOnes", { names: names.join(", ") }) : t("allDefault")}</span>
      </button>
      {/* Kept while folded, so that half-typed JSON inside is neither lost nor saved around. */}
      <div id={`${id}-more`} hidden={!seen}>
        {children}
      </div>
    </div>
  );
}

type OthersProps = {
  id: string;
  names: readonly string[];
  schema: JsonSchema | null;
  object: Record<string, unknown>;
  onChange: (value: unknown) => void;
  faults: readonly Fault[];
};

/** Keys that have no schema: shown rather than dropped, as they are sent. */
function Others({ id, names, schema, object, onChange, faults }: OthersProps) {
  const { t } = useTranslation("form");
  const mine = Object.fromEntries(names.map((name) => [name, object[name]]));
  const rest = Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
  return (
    <div className="schema-grid">
      <Field
        id={`${id}-others`}
        name={t("others")}
        schema={{
          type: "object",
          description: schema === null ? t("othersUnknown") : undefined,
          additionalProperties: schema ?? {},
        }}
        value={mine}
        onChange={(next) => onChange({ ...rest, ...(isRecord(next) ? next : {}) })}
        faults={faults.filter((fault) => names.includes(fault.field.split(".")[0] ?? ""))}
        required={false}
      />
    </div>
  );
}
