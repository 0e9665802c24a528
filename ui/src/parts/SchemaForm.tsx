// A form drawn from a JSON Schema.
import { Input } from "antd";

export type JsonSchema = Record<string, unknown>;
export type Fault = { field: string; message: string };

type Props = {
  schema: JsonSchema;
  value: unknown;
  onChange: (value: unknown) => void;
  /** Faults by path, such as "table" or "steps.0.statement". */
  faults?: readonly Fault[];
  disabled?: boolean;
};

export function SchemaForm({ value, onChange, disabled }: Props) {
  return (
    <Input.TextArea
      disabled={disabled}
      value={JSON.stringify(value)}
      onChange={(event) => onChange(event.target.value)}
    />
  );
}
