// A text that is typed and, when typing stops, told to somebody who takes a while to say it back.
export type Typing = {
  text: string;
  /** What was said last. */
  of: string;
  /** What was told and has not come back. */
  sent: readonly string[];
};

export function begun(value: string): Typing {
  return { text: value, of: value, sent: [] };
}

/** What is to be told, without the blanks at its ends; null when it is known, or on its way. */
export function wantedOf({ text, of, sent }: Typing): string | null {
  const wanted = text.trim();
  return wanted === (sent.at(-1) ?? of) ? null : wanted;
}

export function gave(typing: Typing, text: string): Typing {
  return { ...typing, sent: [...typing.sent, text] };
}

/** An echo leaves what was typed meanwhile as it is; anything else is somebody else's doing, and ends what was typed. */
export function told(typing: Typing, value: string): Typing {
  const echo = typing.sent.indexOf(value);
  return echo < 0 ? begun(value) : { ...typing, of: value, sent: typing.sent.slice(echo + 1) };
}
