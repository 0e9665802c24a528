// What no control was made for: its JSON, with what is wrong with it beside it.
import { Input } from "antd";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { useDrawing } from "./frame";
import { parsed } from "./values";

type Props = {
  id: string;
  label: string;
  value: unknown;
  onChange: (value: unknown) => void;
  rows?: number;
};

export function JsonControl({ id, label, value, onChange, rows = 2 }: Props) {
  const { t } = useTranslation("form");
  const { disabled, broken } = useDrawing();
  const [text, setText] = useState(() => pretty(value));
  const [sent, setSent] = useState(value);
  const read = parsed(text);
  const fault = "fault" in read ? read.fault : null;
  // Changed from elsewhere: what is typed here gives way, unless it says the same.
  if (value !== sent) {
    setSent(value);
    if (fault !== null || JSON.stringify("value" in read ? read.value : null) !== JSON.stringify(value))
      setText(pretty(value));
  }
  useEffect(() => {
    broken(id, fault !== null);
    return () => broken(id, false);
  }, [broken, id, fault]);
  return (
    <>
      <Input.TextArea
        id={id}
        aria-label={label}
        aria-invalid={fault !== null}
        aria-describedby={fault === null ? undefined : `${id}-fault`}
        className="mono schema-json"
        disabled={disabled}
        status={fault === null ? undefined : "error"}
        autoSize={{ minRows: rows, maxRows: 30 }}
        spellCheck={false}
        value={text}
        onChange={({ target }) => {
          setText(target.value);
          const next = parsed(target.value);
          if ("fault" in next) return;
          setSent(next.value);
          onChange(next.value);
        }}
      />
      {fault !== null && (
        <div className="schema-faults" id={`${id}-fault`} role="alert">
          {t("notJson", { fault })}
        </div>
      )}
    </>
  );
}

function pretty(value: unknown): string {
  return value === undefined ? "" : JSON.stringify(value, null, 2);
}
