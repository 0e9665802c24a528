// A command as people think of it: one line. It is split into a program and its arguments, or left to a shell.
import { Button, Input, Segmented } from "antd";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { joinCommand, splitCommand } from "./command";
import { described, useDrawing, type ControlProps } from "./frame";
import type { Shape } from "./shape";

type How = "program" | "shell";
const HOWS: readonly How[] = ["program", "shell"];

export function CommandControl({ id, shape, value, onChange, faults, required, label }: ControlProps<Shape>) {
  const { t } = useTranslation("form");
  const { disabled, broken } = useDrawing();
  const [sent, setSent] = useState(value);
  const [how, setHow] = useState<How>(() => howOf(value));
  const [text, setText] = useState(() => lineOf(value));
  // Changed from elsewhere: what is typed here gives way. What was sent comes back as it went.
  if (JSON.stringify(value) !== JSON.stringify(sent)) {
    setSent(value);
    setHow(howOf(value));
    setText(lineOf(value));
  }
  const blank = text.trim() === "";
  const split = how === "program" && !blank ? splitCommand(text) : null;
  const fault = split !== null && "fault" in split ? split : null;
  const words = split !== null && "words" in split ? split.words : [];
  const wrong = fault !== null;
  useEffect(() => {
    broken(id, wrong);
    return () => broken(id, false);
  }, [broken, id, wrong]);

  function write(line: string, by: How) {
    setText(line);
    setHow(by);
    const next = line.trim() === "" ? undefined : by === "shell" ? line : splitCommand(line);
    if (typeof next === "object" && "fault" in next) return;
    const given = typeof next === "object" ? next.words : next;
    setSent(given);
    onChange(given);
  }

  const bad = wrong || faults.length > 0;
  return (
    <div className="schema-command">
      <div className="schema-command-line">
        <Input.TextArea
          id={id}
          aria-label={label}
          className="mono"
          autoSize={{ minRows: 1, maxRows: 16 }}
          disabled={disabled}
          spellCheck={false}
          status={bad ? "error" : undefined}
          placeholder={how === "program" ? "/opt/books/close --day ${day}" : "cd /opt/books && ./close | tee out.txt"}
          {...described(id, { help: shape.help !== null, bad, required })}
          value={text}
          onChange={({ target }) => write(target.value, how)}
        />
        <Segmented
          aria-label={t("command.how")}
          disabled={disabled}
          value={how}
          options={HOWS.map((one) => ({ value: one, label: t(`command.${one}`) }))}
          onChange={(next) => write(text, next)}
        />
      </div>
      {fault !== null && (
        <div className="schema-faults" role="alert">
          {t(`command.fault.${fault.fault}`, { sign: "sign" in fault ? fault.sign.replace("\n", "↵") : "" })}
          {"sign" in fault && (
            <Button type="link" size="small" onClick={() => write(text, "shell")}>
              {t("command.useShell")}
            </Button>
          )}
        </div>
      )}
      {words.length > 1 && (
        <div className="schema-words" aria-hidden="true">
          {words.map((word, number) => (
            <code key={number}>{word}</code>
          ))}
        </div>
      )}
    </div>
  );
}

function howOf(value: unknown): How {
  return typeof value === "string" ? "shell" : "program";
}

function lineOf(value: unknown): string {
  if (typeof value === "string") return value;
  return Array.isArray(value) ? joinCommand(value.map(String)) : "";
}
