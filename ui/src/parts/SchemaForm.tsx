// A form drawn from a JSON Schema. What the schema cannot say is the server's to check: its faults are shown at the fields.
import { Segmented } from "antd";
import { useCallback, useEffect, useId, useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import { Control } from "./schema/Field";
import { DrawingContext } from "./schema/frame";
import { JsonControl } from "./schema/JsonControl";
import { Fields } from "./schema/RecordControl";
import { labelOf, shapeOf, type JsonSchema } from "./schema/shape";
import { own, type Fault } from "./schema/values";
import "./schema/schema.css";

export type { JsonSchema } from "./schema/shape";
export { under as faultsUnder, type Fault } from "./schema/values";

type Props = {
  schema: JsonSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Faults by path, such as "table" or "steps.0.statement"; `faultsUnder(faults, "config")` takes a prefix off. */
  faults?: readonly Fault[];
  disabled?: boolean;
  /** Told whether some text in it is no JSON: then `value` is not what is on the screen, and must not be sent. */
  onBroken?: (broken: boolean) => void;
  /** More optional fields than these are folded away; six unless told. */
  few?: number;
  /** What it is called, where several are on a page. */
  label?: string;
};
const NONE: readonly Fault[] = [];

export function SchemaForm({ schema, value, onChange, faults = NONE, disabled = false, onBroken, few, label }: Props) {
  const { t } = useTranslation("form");
  const id = useId();
  const [json, setJson] = useState(false);
  const [broken, setBroken] = useState<ReadonlySet<string>>(new Set());
  const tell = useCallback((field: string, is: boolean) => {
    setBroken((old) => {
      if (old.has(field) === is) return old;
      const next = new Set(old);
      if (is) next.add(field);
      else next.delete(field);
      return next;
    });
  }, []);
  const any = broken.size > 0;
  useEffect(() => onBroken?.(any), [any, onBroken]);
  const drawing = useMemo(() => ({ root: schema, disabled, few, broken: tell }), [schema, disabled, few, tell]);
  const shape = shapeOf(schema, schema);
  const name = label ?? labelOf(shape.title ?? t("value"), null);
  const known = shape.is === "record" && !json ? shape.entries.map((entry) => entry.name) : [];
  const homeless = own(faults, known);

  return (
    <DrawingContext value={drawing}>
      <div className="schema-form" role="group" aria-label={name}>
        {shape.is !== "json" && (
          <div className="schema-bar">
            <Segmented
              size="small"
              aria-label={t("view")}
              options={[
                { value: "form", label: t("form"), disabled: json && any },
                { value: "json", label: "JSON" },
              ]}
              value={json ? "json" : "form"}
              onChange={(next) => setJson(next === "json")}
            />
          </div>
        )}
        {homeless.length > 0 && (
          <div className="schema-faults" role="alert">
            {homeless.map((fault) => (
              <div key={`${fault.field} ${fault.message}`}>
                {fault.field ? `${fault.field}: ${fault.message}` : fault.message}
              </div>
            ))}
          </div>
        )}
        {json ? (
          <JsonControl
            id={`${id}-json`}
            label={t("jsonOf", { what: name })}
            value={value}
            onChange={onChange}
            rows={6}
          />
        ) : shape.is === "record" ? (
          <Fields id={id} shape={shape} value={value} onChange={onChange} faults={faults} required label={name} />
        ) : (
          <Control
            id={id}
            shape={shape}
            value={value ?? undefined}
            onChange={onChange}
            faults={faults}
            required
            label={name}
          />
        )}
      </div>
    </DrawingContext>
  );
}
