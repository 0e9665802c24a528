// Fields of one value: texts, numbers, choices, yes and no, dates.
import { DatePicker, Input, InputNumber, Select, Switch, TimePicker } from "antd";
import dayjs, { type Dayjs } from "dayjs";
import { useState, type ClipboardEvent } from "react";
import { useTranslation } from "react-i18next";

import { described, useDrawing, type ControlProps } from "./frame";
import { Instant } from "./Instant";
import { written, type Shape } from "./shape";
import { isInstant } from "./values";

type Scalar = Extract<Shape, { is: "text" | "number" | "flag" | "choice" }>;

export function ScalarControl(props: ControlProps<Scalar>) {
  const { shape } = props;
  switch (shape.is) {
    case "flag":
      return <Flag {...props} shape={shape} />;
    case "choice":
      return <Choice {...props} shape={shape} />;
    case "number":
      return <NumberControl {...props} shape={shape} />;
    case "text":
      return <TextControl {...props} shape={shape} />;
  }
}

function useCommon({ id, shape, faults, required, label }: ControlProps<Scalar>) {
  const { t } = useTranslation("form");
  const { disabled } = useDrawing();
  const { fallback, example } = shape;
  const hint =
    fallback !== undefined
      ? t("fallback", { value: written(fallback) })
      : example !== null
        ? t("example", { value: example })
        : undefined;
  return {
    id,
    disabled,
    placeholder: hint,
    status: faults.length > 0 ? ("error" as const) : undefined,
    "aria-label": label,
    ...described(id, { help: shape.help !== null, bad: faults.length > 0, required }),
  };
}

function Flag(props: ControlProps<Extract<Shape, { is: "flag" }>>) {
  const { t } = useTranslation("form");
  const { status, placeholder, ...common } = useCommon(props);
  const { shape, value, onChange, required } = props;
  const decided = typeof shape.fallback === "boolean" || !required;
  if (decided && !shape.nullable) {
    return (
      <div className="schema-switch">
        <Switch
          {...common}
          size="small"
          checked={typeof value === "boolean" ? value : shape.fallback === true}
          onChange={onChange}
        />
      </div>
    );
  }
  return (
    <Select
      {...common}
      placeholder={placeholder}
      status={status}
      allowClear={!required}
      value={typeof value === "boolean" ? String(value) : undefined}
      onChange={(next?: string) => onChange(next === undefined ? undefined : next === "true")}
      options={[
        { value: "true", label: t("yes") },
        { value: "false", label: t("no") },
      ]}
    />
  );
}

function Choice(props: ControlProps<Extract<Shape, { is: "choice" }>>) {
  const { shape, value, onChange, required } = props;
  const common = useCommon(props);
  const at = shape.values.findIndex((one) => one === value);
  const known = at >= 0 || value === undefined;
  return (
    <Select
      {...common}
      allowClear={!required}
      showSearch={shape.values.length > 8 ? { optionFilterProp: "label" } : false}
      // A value that is none of them is shown as it is, rather than as if there were none.
      value={at >= 0 ? String(at) : known ? undefined : "other"}
      onChange={(next?: string) => onChange(next === undefined ? undefined : shape.values[Number(next)])}
      options={[
        ...shape.values.map((one, number) => ({ value: String(number), label: written(one) })),
        ...(known ? [] : [{ value: "other", label: written(value), disabled: true }]),
      ]}
    />
  );
}

function NumberControl(props: ControlProps<Extract<Shape, { is: "number" }>>) {
  const { value, onChange } = props;
  const common = useCommon(props);
  if (value !== undefined && typeof value !== "number") return <Plain {...props} />;
  return (
    <InputNumber<number>
      {...common}
      className="schema-number"
      value={value ?? null}
      // Bounds are told, not enforced: a number that changes by itself is worse than one that is refused.
      onChange={(next) => onChange(next ?? undefined)}
    />
  );
}

/** A value of another type than the schema's, such as "${day}" for a number: as JSON text would have it. */
function Plain(props: ControlProps<Scalar>) {
  const { value, onChange } = props;
  const common = useCommon(props);
  return (
    <Input
      {...common}
      value={written(value)}
      onChange={({ target }) => onChange(target.value === "" ? undefined : asNumber(target.value))}
    />
  );
}

function asNumber(text: string): string | number {
  return text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;
}

function TextControl(props: ControlProps<Extract<Shape, { is: "text" }>>) {
  const { shape, value, onChange } = props;
  const common = useCommon(props);
  const text = value === undefined ? "" : written(value);
  const [long, setLong] = useState(shape.format === "long" || text.includes("\n"));
  const change = (next: string) => onChange(next === "" ? undefined : next);
  const picked = dayOrTime(shape.format, text);

  if (shape.format === "secret") {
    return (
      <Input.Password
        {...common}
        value={text}
        autoComplete="new-password"
        onChange={({ target }) => change(target.value)}
      />
    );
  }
  if (picked !== undefined && shape.format === "time") {
    return <TimePicker {...common} value={picked} onChange={(next) => change(next?.format("HH:mm:ss") ?? "")} />;
  }
  if (picked !== undefined) {
    return (
      <DatePicker
        {...common}
        format="YYYY-MM-DD"
        value={picked}
        onChange={(next: Dayjs | null) => change(next?.format("YYYY-MM-DD") ?? "")}
      />
    );
  }
  if (shape.format === "date-time" && (text === "" || isInstant(text))) {
    return <Instant {...common} text={text} label={props.label} onChange={change} />;
  }
  if (long) {
    return (
      <Input.TextArea
        {...common}
        className="mono"
        autoSize={{ minRows: 2, maxRows: 16 }}
        spellCheck={false}
        value={text}
        onChange={({ target }) => change(target.value)}
      />
    );
  }
  return (
    <Input
      {...common}
      inputMode={shape.format === "uri" ? "url" : undefined}
      value={text}
      onChange={({ target }) => change(target.value)}
      onPaste={(event: ClipboardEvent<HTMLInputElement>) => {
        const pasted = event.clipboardData.getData("text").trimEnd();
        if (!pasted.includes("\n")) return;
        // One line would lose the others: it becomes a field of many.
        event.preventDefault();
        const { selectionStart, selectionEnd } = event.currentTarget;
        change(text.slice(0, selectionStart ?? text.length) + pasted + text.slice(selectionEnd ?? text.length));
        setLong(true);
      }}
    />
  );
}

/** A date or time to pick; null: none yet; undefined: this is no such thing, so that it is written by hand. */
function dayOrTime(format: string, text: string): Dayjs | null | undefined {
  if (format !== "date" && format !== "time") return undefined;
  if (text === "") return null;
  const read = dayjs(format === "time" ? `2000-01-01T${text}` : text);
  return read.isValid() ? read : undefined;
}
