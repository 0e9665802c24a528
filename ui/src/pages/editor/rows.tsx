// Fields of the editor: text, number, choice, yes or no; each with its label, its help and its faults.
import { Input, InputNumber, Select, Switch } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import { described, Frame } from "../../parts/schema/frame";
import { lengthOf } from "../../time/format";
import { useEditing, useFaults } from "./context";
import type { Draft, FieldName } from "./draft";

type Of<Value> = { [Name in FieldName]: Draft[Name] extends Value ? Name : never }[FieldName];
type Common = { help?: ReactNode; required?: boolean; wide?: boolean };

function useRow(name: FieldName, required: boolean) {
  const { t } = useTranslation("editor");
  const { draft, set } = useEditing();
  const faults = useFaults(name);
  const id = `editor-${name}`;
  const common = {
    id,
    status: faults.length > 0 ? ("error" as const) : undefined,
    ...described(id, { help: true, bad: faults.length > 0, required }),
  };
  return { t, id, draft, set, faults, common, label: t(`fields.${name}`) };
}

type TextProps = Common & { name: Of<string | null>; placeholder?: string; long?: boolean; focus?: boolean };

export function TextRow({ name, help, required = false, placeholder, long, focus, wide }: TextProps) {
  const { id, draft, set, faults, common, label } = useRow(name, required);
  const value = draft[name] ?? "";
  const nothing = required ? "" : null;
  const change = (text: string) => set({ [name]: text === "" ? nothing : text });
  return (
    <Frame id={id} label={label} name={name} help={help} required={required} faults={faults} wide={wide}>
      {long ? (
        <Input.TextArea
          {...common}
          autoSize={{ minRows: 2, maxRows: 10 }}
          placeholder={placeholder}
          value={value}
          onChange={({ target }) => change(target.value)}
        />
      ) : (
        <Input
          {...common}
          placeholder={placeholder}
          autoComplete="off"
          autoFocus={focus}
          value={value}
          onChange={({ target }) => change(target.value)}
        />
      )}
    </Frame>
  );
}

type NumberProps = Common & { name: Of<number | null>; placeholder?: string; unit?: "seconds" };

export function NumberRow({ name, help, required = false, placeholder, unit }: NumberProps) {
  const { t, id, draft, set, faults, common, label } = useRow(name, required);
  const value = draft[name];
  const long = unit === "seconds" && value !== null && value >= 60 ? lengthOf(value * 1_000) : null;
  return (
    <Frame id={id} label={label} name={name} help={help} required={required} faults={faults}>
      <InputNumber<number>
        {...common}
        className="schema-number"
        placeholder={placeholder}
        suffix={unit === undefined ? undefined : <span className="dim">{long ?? t("seconds")}</span>}
        value={value}
        onChange={(next) => set({ [name]: next })}
      />
    </Frame>
  );
}

type ChoiceProps = { name: Of<string>; options: readonly string[] };

/** One of several policies: under it is said what the chosen one does. */
export function ChoiceRow({ name, options }: ChoiceProps) {
  const { t, id, draft, set, faults, common, label } = useRow(name, false);
  const value = draft[name];
  return (
    <Frame id={id} label={label} name={name} help={t(`means.${name}.${value}`)} faults={faults}>
      <Select
        {...common}
        value={value}
        onChange={(next: string) => set({ [name]: next })}
        options={options.map((option) => ({ value: option, label: t(`options.${name}.${option}`) }))}
      />
    </Frame>
  );
}

export function FlagRow({ name, help }: { name: Of<boolean>; help?: ReactNode }) {
  const { id, draft, set, faults, label } = useRow(name, false);
  return (
    <Frame id={id} label={label} name={name} help={help} faults={faults}>
      <div className="schema-switch">
        <Switch
          id={id}
          size="small"
          aria-describedby={`${id}-help`}
          checked={draft[name]}
          onChange={(next) => set({ [name]: next })}
        />
      </div>
    </Frame>
  );
}
