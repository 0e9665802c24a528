// How an instance stands: a mark, a word and a colour, so that none of them is needed alone. Plain, since lists have many.
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { components } from "../api/schema";

export type StatusWord = components["schemas"]["Status"];

const RING = "M8 1.6a6.4 6.4 0 1 0 0 12.8A6.4 6.4 0 0 0 8 1.6Zm0 1.4a5 5 0 1 1 0 10 5 5 0 0 1 0-10Z";
const DISC = "M8 1.6a6.4 6.4 0 1 0 0 12.8A6.4 6.4 0 0 0 8 1.6Z";
const MARKS: Record<StatusWord | "skipped", ReactNode> = {
  planned: mark(`${RING}M6.2 5.4h1.2v5.2H6.2zM8.6 5.4h1.2v5.2H8.6z`),
  pending: mark(`${RING}M7.4 4.6h1.2v3.1l2.2 1.5-.7 1-2.7-1.8z`),
  running: mark(`${RING}M6.4 5.2 10.8 8l-4.4 2.8z`),
  success: mark(`${DISC}M7 11.2 4.2 8.4l1-1L7 9.2l3.8-3.8 1 1z`),
  failed: mark(`${DISC}M5.9 4.9 8 7l2.1-2.1 1 1L9 8l2.1 2.1-1 1L8 9l-2.1 2.1-1-1L7 8 4.9 5.9z`),
  cancelled: mark(`${RING}M4.1 4.9l.8-.8 7 7-.8.8z`),
  skipped: mark(`${RING}M5 7.4h6v1.2H5z`),
};

function mark(path: string): ReactNode {
  return (
    <svg viewBox="0 0 16 16" width="11" height="11" fill="currentColor" fillRule="evenodd" aria-hidden="true">
      <path d={path} />
    </svg>
  );
}

type Props = { status: StatusWord; skipped?: string | null };

/** `skipped`: an instant that was never made is stored as cancelled, with the reason. */
export function Status({ status, skipped }: Props) {
  const { t } = useTranslation("common");
  return <Mark word={skipped ? "skipped" : status} text={skipped ? t("status.skipped") : t(`status.${status}`)} />;
}

/** The same for who has the word already: asking for words costs, where there are very many. */
export function Mark({ word, text }: { word: StatusWord | "skipped"; text: string }) {
  return (
    <span className={`status status-${word}`}>
      {MARKS[word]}
      {text}
    </span>
  );
}
