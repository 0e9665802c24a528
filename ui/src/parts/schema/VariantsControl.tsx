// One of several: which one, and then its own fields.
import { Segmented, Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Control } from "./Field";
import { useDrawing, type ControlProps } from "./frame";
import { shapeOf, type Shape } from "./shape";
import { asVariant, variantOf } from "./values";

export function VariantsControl({
  id,
  shape,
  value,
  onChange,
  faults,
  required,
  label,
}: ControlProps<Extract<Shape, { is: "variants" }>>) {
  const { t } = useTranslation("form");
  const { root, disabled } = useDrawing();
  const [chosen, setChosen] = useState(0);
  const found = variantOf(value, shape, root);
  // What was chosen holds while the value could be it; an empty one could be any.
  const at = value === undefined || found < 0 ? chosen : found;
  const variant = shape.variants[at];
  const options = shape.variants.map((one, number) => ({ value: number, label: one.label ?? t(`kinds.${one.kind}`) }));

  function choose(next: number) {
    const variants = shape.variants[next];
    setChosen(next);
    if (variants !== undefined)
      onChange(value === undefined && !required ? undefined : asVariant(value, variants, root));
  }

  const picker =
    options.length <= 4 ? (
      <Segmented
        size="small"
        disabled={disabled}
        aria-label={t("kindOf", { what: label })}
        options={options}
        value={at}
        onChange={choose}
      />
    ) : (
      <Select
        disabled={disabled}
        aria-label={t("kindOf", { what: label })}
        options={options}
        value={at}
        onChange={choose}
        popupMatchSelectWidth={false}
      />
    );
  return (
    <div className="schema-variants">
      {picker}
      {variant !== undefined && (
        <Control
          key={at}
          id={id}
          shape={{ ...shapeOf(variant.schema, root), ...(shape.help === null ? {} : { help: null }) }}
          value={value}
          onChange={onChange}
          faults={faults}
          required={required || value !== undefined}
          label={label}
        />
      )}
    </div>
  );
}
