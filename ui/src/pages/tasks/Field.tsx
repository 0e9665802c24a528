// A text to filter by: it goes into the address when somebody stops typing, so that not every letter is asked for.
import { Input } from "antd";
import { useEffect, useRef, useState, type ReactNode } from "react";

type Props = {
  value: string;
  onChange: (value: string) => void;
  label: string;
  prefix?: ReactNode;
  className?: string;
};
const PAUSE = 300;

export function Field({ value, onChange, label, prefix, className }: Props) {
  const [text, setText] = useState(value);
  const [seen, setSeen] = useState(value);
  const timer = useRef<number | undefined>(undefined);
  if (seen !== value) {
    // The address changed by something else, such as going back; its own echo lacks the blanks at the ends.
    setSeen(value);
    setText(text.trim() === value ? text : value);
  }
  useEffect(() => () => window.clearTimeout(timer.current), []);

  function write(next: string) {
    setText(next);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(() => onChange(next.trim()), PAUSE);
  }

  return (
    <Input
      allowClear
      className={className}
      prefix={prefix}
      value={text}
      placeholder={label}
      aria-label={label}
      maxLength={200}
      onChange={(event) => write(event.target.value)}
      onPressEnter={() => {
        window.clearTimeout(timer.current);
        onChange(text.trim());
      }}
    />
  );
}
