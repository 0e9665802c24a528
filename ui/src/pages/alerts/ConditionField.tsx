// When to tell: a kind, explained, and the figures it needs.
import { InputNumber, Select } from "antd";
import { useTranslation } from "react-i18next";

import { choiceOf, conditionOf, KINDS, type Condition } from "./conditions";

type Props = { id?: string; value?: Condition; onChange?: (value: Condition) => void };

export function ConditionField({ id, value = { kind: "failed" }, onChange }: Props) {
  const { t } = useTranslation("alerts");
  const choice = choiceOf(value);
  const parameters = KINDS.find((one) => one.kind === choice)?.parameters ?? [];
  return (
    <div className="alerts-row">
      <Select
        id={id}
        className="alerts-kind"
        value={choice}
        options={KINDS.map(({ kind }) => ({ value: kind, label: t(`choice.${kind}`) }))}
        onChange={(chosen) => onChange?.(conditionOf(chosen))}
      />
      {parameters.map(({ name, label, unit, least, whole }) => (
        <InputNumber
          key={`${choice} ${name}`}
          className="alerts-number"
          min={least}
          precision={whole ? 0 : undefined}
          aria-label={t(label)}
          suffix={t(unit)}
          value={value[name] as number | null}
          onChange={(figure) => onChange?.({ ...value, [name]: figure })}
        />
      ))}
    </div>
  );
}
