// What surrounds every field: its label, what it is for, and what is wrong with it.
import { createContext, useContext, type ReactNode } from "react";

import { Quoted } from "../Quoted";
import type { JsonSchema } from "./shape";
import type { Fault } from "./values";

export type Drawing = {
  root: JsonSchema;
  disabled: boolean;
  /** More optional fields than these are folded away. */
  few?: number;
  /** Told by fields whose text is no value, so that nobody saves what is not on the screen. */
  broken: (id: string, is: boolean) => void;
};
export const DrawingContext = createContext<Drawing>({ root: {}, disabled: false, broken: () => undefined });

export function useDrawing(): Drawing {
  return useContext(DrawingContext);
}

/** What every control gets. */
export type ControlProps<S> = {
  id: string;
  shape: S;
  value: unknown;
  onChange: (value: unknown) => void;
  faults: readonly Fault[];
  required: boolean;
  /** For what has no visible label of its own. */
  label: string;
};

type FrameProps = {
  id: string;
  label: string;
  /** The key as it is sent, for who reads messages and JSON. */
  name?: string;
  help?: ReactNode;
  required?: boolean;
  faults: readonly string[];
  wide?: boolean;
  /** The label belongs to a group of controls rather than to one. */
  group?: boolean;
  beside?: ReactNode;
  children: ReactNode;
};

export function Frame({ id, label, name, help, required, faults, wide, group, beside, children }: FrameProps) {
  const mark = required && (
    <span className="schema-mark" aria-hidden="true">
      *
    </span>
  );
  return (
    <div
      className={`schema-field${wide ? " schema-wide" : ""}${faults.length > 0 ? " schema-bad" : ""}`}
      {...(group ? { role: "group", "aria-labelledby": `${id}-label` } : {})}
    >
      <div className="schema-label">
        {group ? (
          <span id={`${id}-label`} title={name}>
            {label}
            {mark}
          </span>
        ) : (
          <label id={`${id}-label`} htmlFor={id} title={name}>
            {label}
            {mark}
          </label>
        )}
        {beside}
      </div>
      {children}
      {faults.length > 0 && (
        <div className="schema-faults" id={`${id}-faults`} role="alert">
          {faults.map((fault) => (
            <div key={fault}>{fault}</div>
          ))}
        </div>
      )}
      {help && (
        <div className="schema-help" id={`${id}-help`}>
          {typeof help === "string" ? <Quoted text={help} /> : help}
        </div>
      )}
    </div>
  );
}

/** What a control says of itself to who cannot see the frame. */
export function described(id: string, { help, bad, required }: { help: boolean; bad: boolean; required: boolean }) {
  const by = [bad ? `${id}-faults` : "", help ? `${id}-help` : ""].filter(Boolean).join(" ");
  return {
    ...(by === "" ? {} : { "aria-describedby": by }),
    ...(bad ? { "aria-invalid": true } : {}),
    ...(required ? { "aria-required": true } : {}),
  };
}
