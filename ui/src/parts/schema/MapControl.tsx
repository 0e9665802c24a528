// An object whose keys are anybody's to choose: rows of key and value.
import { CloseOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Input } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { Control } from "./Field";
import { useDrawing, type ControlProps } from "./frame";
import { isRecord, shapeOf, type JsonSchema, type Shape } from "./shape";
import { under } from "./values";

type Row = { key: string; value: unknown };

/** What may be anything is one of these; the last takes the rest. */
const ANYTHING: JsonSchema = {
  anyOf: [{ type: "string" }, { type: "number" }, { type: "boolean" }, { title: "JSON" }],
};

export function MapControl({
  id,
  shape,
  value,
  onChange,
  faults,
  required,
  label,
}: ControlProps<Extract<Shape, { is: "map" }>>) {
  const { t } = useTranslation("form");
  const { root, disabled } = useDrawing();
  // Rows live here while a key is empty or there twice, which an object could not hold.
  const [rows, setRows] = useState<Row[]>(() => rowsOf(value));
  if (!same(objectOf(rows), value)) {
    const fresh = rowsOf(value);
    if (!same(objectOf(rows), objectOf(fresh))) setRows(fresh);
  }
  const inner = shapeOf(shape.value === null || Object.keys(shape.value).length === 0 ? ANYTHING : shape.value, root);

  function change(next: Row[]) {
    setRows(next);
    const object = objectOf(next);
    onChange(Object.keys(object).length === 0 && !required ? undefined : object);
  }

  return (
    <div className="schema-map">
      {rows.map((row, number) => {
        const twice = rows.some((other, at) => at < number && other.key === row.key);
        const wrong =
          row.key === "" ? (row.value === undefined ? null : t("keyMissing")) : twice ? t("keyTwice") : null;
        const told = under(faults, row.key).map((fault) => fault.message);
        return (
          <div key={number} className="schema-row">
            <Input
              className="mono"
              disabled={disabled}
              aria-label={t("keyOf", { what: label, number: number + 1 })}
              placeholder={t("key")}
              status={wrong === null ? undefined : "error"}
              value={row.key}
              onChange={({ target }) =>
                change(rows.map((old, at) => (at === number ? { ...old, key: target.value } : old)))
              }
            />
            <Control
              id={`${id}.${number}`}
              shape={inner}
              value={row.value}
              onChange={(next) => change(rows.map((old, at) => (at === number ? { ...old, value: next } : old)))}
              faults={under(faults, row.key)}
              required={false}
              label={t("valueOf", { what: label, number: number + 1 })}
            />
            <Button
              type="text"
              icon={<CloseOutlined />}
              disabled={disabled}
              aria-label={t("remove", { what: row.key === "" ? String(number + 1) : row.key })}
              onClick={() => change(rows.filter((_, at) => at !== number))}
            />
            {(wrong !== null || told.length > 0) && (
              <div className="schema-faults" role="alert">
                {[...(wrong === null ? [] : [wrong]), ...told].join(" · ")}
              </div>
            )}
          </div>
        );
      })}
      <Button
        id={id}
        type="dashed"
        size="small"
        icon={<PlusOutlined />}
        disabled={disabled}
        aria-label={`${t("addKey")} (${label})`}
        onClick={() => setRows([...rows, { key: "", value: undefined }])}
      >
        {t("addKey")}
      </Button>
    </div>
  );
}

function rowsOf(value: unknown): Row[] {
  return isRecord(value) ? Object.entries(value).map(([key, inner]) => ({ key, value: inner })) : [];
}

/** The first of two rows with one key counts; an empty text is a value once its row has a key. */
function objectOf(rows: readonly Row[]): Record<string, unknown> {
  const object: Record<string, unknown> = {};
  for (const { key, value } of rows) if (key !== "" && !(key in object)) object[key] = value ?? "";
  return object;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one ?? {}) === JSON.stringify(other ?? {});
}
