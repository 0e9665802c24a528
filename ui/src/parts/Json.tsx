// A value as it is stored, to read and to copy.
import { Typography } from "antd";

export function Json({ value, label }: { value: unknown; label?: string }) {
  const text = typeof value === "string" ? value : JSON.stringify(value, null, 2);
  return (
    <div className="json">
      <Typography.Text copyable={{ text }} className="json-copy" />
      <pre aria-label={label} tabIndex={0}>
        {text}
      </pre>
    </div>
  );
}
