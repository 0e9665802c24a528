// One row of a log: its number, its time, its marks, its text with colours and what was searched for.
import { memo, type ReactNode } from "react";

import { partsIn } from "../../../time/format";
import { spansOf } from "./ansi";
import { numberOf, type Row } from "./rows";
import "./ansi.css";

type Props = {
  row: Row;
  zone: string;
  times: boolean;
  wanted: string;
  chosen: boolean;
  /** What is said where an attempt begins. */
  heading: string;
  href: string;
  onChoose: (row: Row, toHere: boolean) => void;
};

export const LogRow = memo(function LogRow({ row, zone, times, wanted, chosen, heading, href, onChoose }: Props) {
  if (row.kind === "attempt") {
    return (
      <div className="log-attempt">
        <span>{heading}</span>
      </div>
    );
  }
  const mark = row.grave === "error" || row.grave === "warning" ? row.grave : row.stream === "stderr" ? "stderr" : "";
  return (
    <div className={`log-row${chosen ? " log-chosen" : ""}${row.grave === null ? "" : ` log-${row.grave}`}`}>
      <a
        className="log-number"
        href={href}
        tabIndex={-1}
        draggable={false}
        onClick={(event) => {
          if (event.ctrlKey || event.metaKey) return;
          event.preventDefault();
          onChoose(row, event.shiftKey);
        }}
      >
        {numberOf(row)}
      </a>
      {times && <span className="log-time">{row.part <= 0 ? clockOf(row.at, zone) : ""}</span>}
      <span className={`log-mark log-mark-${mark}`} title={mark || undefined}>
        {MARKS[mark]}
      </span>
      <span className="log-text">{row.text === "" ? "\u00a0" : textOf(row.text, wanted)}</span>
    </div>
  );
});

const MARKS: Record<string, string> = { error: "E", warning: "W", stderr: "e", "": "" };

function clockOf(at: string, zone: string): string {
  const instant = new Date(at);
  return `${partsIn(instant, zone).clock}.${String(instant.getUTCMilliseconds()).padStart(3, "0")}`;
}

function textOf(text: string, wanted: string): ReactNode[] {
  return spansOf(text).map((span, number) => (
    <span key={number} className={span.className || undefined}>
      {marked(span.text, wanted)}
    </span>
  ));
}

/** The text with what was searched for marked in it. */
function marked(text: string, wanted: string): ReactNode {
  if (wanted === "") return text;
  const sought = new RegExp(`(${wanted.replace(/[.*+?^${}()|[\]\\]/g, "\\$&")})`, "gi");
  return text.split(sought).map((piece, number) => (number % 2 === 1 ? <mark key={number}>{piece}</mark> : piece));
}
