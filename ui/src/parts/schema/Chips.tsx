// Short values side by side. Each can be changed where it stands, and the same may be there twice, as in a command line.
import { CloseOutlined } from "@ant-design/icons";
import { useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { described, useDrawing, type ControlProps } from "./frame";
import { written, type Shape } from "./shape";
import { under } from "./values";

type Props = Omit<ControlProps<Extract<Shape, { is: "list" }>>, "onChange" | "value"> & {
  items: readonly unknown[];
  numbers: boolean;
  onChange: (items: unknown[]) => void;
};

export function Chips({ id, shape, items, numbers, onChange, faults, required, label }: Props) {
  const { t } = useTranslation("form");
  const { disabled } = useDrawing();
  const [draft, setDraft] = useState("");
  const box = useRef<HTMLDivElement>(null);
  const read = (text: string): unknown =>
    numbers && text.trim() !== "" && Number.isFinite(Number(text)) ? Number(text) : text;

  function add(text: string) {
    const parts = text
      .split("\n")
      .map((part) => (numbers ? part.trim() : part))
      .filter((part) => part !== "");
    setDraft("");
    if (parts.length > 0) onChange([...items, ...parts.map(read)]);
  }

  function remove(number: number) {
    onChange(items.filter((_, at) => at !== number));
    box.current?.querySelector<HTMLInputElement>(".schema-draft")?.focus();
  }

  return (
    <div ref={box} className={`schema-chips${disabled ? " schema-off" : ""}`}>
      {items.map((item, number) => {
        const text = written(item);
        const wrong = under(faults, String(number));
        return (
          <span
            key={number}
            className={`schema-chip${wrong.length > 0 ? " schema-bad" : ""}`}
            title={wrong[0]?.message}
          >
            <input
              aria-label={`${label} ${number + 1}`}
              aria-invalid={wrong.length > 0}
              disabled={disabled}
              size={Math.max(2, Math.min(60, text.length))}
              spellCheck={false}
              value={text}
              onChange={({ target }) => onChange(items.map((old, at) => (at === number ? read(target.value) : old)))}
              onKeyDown={(event) => {
                if (event.nativeEvent.isComposing) return;
                if (event.key === "Enter") event.preventDefault();
                if (event.key === "Backspace" && text === "") {
                  event.preventDefault();
                  remove(number);
                }
              }}
              onBlur={() => text === "" && numbers && remove(number)}
            />
            <button
              type="button"
              disabled={disabled}
              aria-label={t("remove", { what: text })}
              onClick={() => remove(number)}
            >
              <CloseOutlined />
            </button>
          </span>
        );
      })}
      <input
        id={id}
        className="schema-draft"
        aria-label={label}
        disabled={disabled}
        spellCheck={false}
        inputMode={numbers ? "numeric" : undefined}
        placeholder={
          items.length > 0
            ? t("another")
            : shape.fallback !== undefined && written(shape.fallback) !== "[]"
              ? t("fallback", { value: written(shape.fallback) })
              : t("first")
        }
        {...described(id, { help: shape.help !== null, bad: faults.length > 0, required })}
        value={draft}
        onChange={({ target }) => setDraft(target.value)}
        onPaste={(event) => {
          const pasted = event.clipboardData.getData("text");
          if (!pasted.includes("\n")) return;
          event.preventDefault();
          add(draft + pasted);
        }}
        onKeyDown={(event) => {
          // The Enter that ends a word of an input method is not for us, nor is its Backspace.
          if (event.nativeEvent.isComposing) return;
          if (event.key === "Enter") {
            event.preventDefault();
            add(draft);
          } else if (event.key === "Backspace" && draft === "" && items.length > 0) {
            event.preventDefault();
            remove(items.length - 1);
          }
        }}
        onBlur={() => add(draft)}
      />
    </div>
  );
}
