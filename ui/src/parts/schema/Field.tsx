// One field: its frame, and the control that its shape asks for.
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { CommandControl } from "./CommandControl";
import { Frame, useDrawing, type ControlProps } from "./frame";
import { ItemsControl } from "./Items";
import { JsonControl } from "./JsonControl";
import { MapControl } from "./MapControl";
import { RecordControl } from "./RecordControl";
import { ScalarControl } from "./scalars";
import { labelOf, shapeOf, type JsonSchema, type Shape } from "./shape";
import { doubt, own, under, type Fault } from "./values";
import { VariantsControl } from "./VariantsControl";

type Props = {
  id: string;
  name: string;
  schema: JsonSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  faults: readonly Fault[];
  required: boolean;
};

export function Field({ id, name, schema, value, onChange, faults, required }: Props) {
  const { t } = useTranslation("form");
  const { root } = useDrawing();
  const [left, setLeft] = useState(false);
  const shape = shapeOf(schema, root);
  if (shape.is === "constant") return null; // written by whoever holds it, see `seed`
  const label = labelOf(name, shape.title);
  const unsure = left ? doubt(value, shape) : null;
  const whole = isWhole(shape);
  const told = [
    ...own(faults, keysOf(shape, value)).map((fault) =>
      fault.field ? `${fault.field}: ${fault.message}` : fault.message,
    ),
    ...(unsure === null || faults.length > 0 ? [] : [t(`doubt.${unsure.word}`, { than: unsure.than })]),
  ];
  return (
    <div className={whole ? "schema-wide" : undefined} onBlur={() => setLeft(true)} onFocus={() => setLeft(false)}>
      <Frame
        id={id}
        label={label}
        name={name}
        help={shape.help}
        required={required}
        faults={told}
        wide={whole}
        group={shape.is === "list" || shape.is === "record" || shape.is === "map" || shape.is === "variants"}
      >
        <Control
          id={id}
          shape={shape}
          value={value ?? undefined}
          onChange={(next) => onChange(next === undefined && required && shape.nullable ? null : next)}
          faults={faults}
          required={required}
          label={label}
        />
      </Frame>
    </div>
  );
}

/** The control alone, for what has a label already. */
export function Control(props: ControlProps<Shape>) {
  const { shape } = props;
  switch (shape.is) {
    case "list":
      return <ItemsControl {...props} shape={shape} />;
    case "record":
      return <RecordControl {...props} shape={shape} />;
    case "map":
      return <MapControl {...props} shape={shape} />;
    case "variants":
      return <VariantsControl {...props} shape={shape} />;
    case "command":
      return <CommandControl {...props} />;
    case "json":
      return <JsonControl {...props} />;
    case "constant":
      return null;
    default:
      return <ScalarControl {...props} shape={shape} />;
  }
}

/** Whether it takes the whole width. */
function isWhole(shape: Shape): boolean {
  if (shape.is === "text") return shape.format === "long";
  if (shape.is === "list") return shape.item.type !== "integer" && shape.item.type !== "number";
  return ["record", "map", "variants", "command", "json"].includes(shape.is);
}

/** The names whose faults are shown deeper inside. */
function keysOf(shape: Shape, value: unknown): string[] {
  if (shape.is === "record") return [...shape.entries.map((entry) => entry.name), ...Object.keys(value ?? {})];
  if (shape.is === "map") return Object.keys(value ?? {});
  if (shape.is === "list" && Array.isArray(value)) return value.map((_, number) => String(number));
  if (shape.is === "variants") return typeof value === "object" && value !== null ? Object.keys(value) : [];
  return [];
}

export { under };
