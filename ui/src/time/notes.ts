// The server's notes about instants taken apart, so that they can be said in another language and by another clock.
type Word =
  "gap" | "gapSkipped" | "fold" | "foldTwice" | "eitherDay" | "falls" | "fall" | "fallMore" | "open" | "often";
export type Note = { word: Word; values: Record<string, string> };

const NOTES: readonly [Word, RegExp][] = [
  ["gap", /^(?<times>.+?) do(?:es)? not exist on (?<day>\S+) in (?<zone>\S+): fires at (?<instead>.+) instead$/],
  ["gapSkipped", /^(?<times>.+?) do(?:es)? not exist on (?<day>\S+) in (?<zone>\S+): does not fire then$/],
  ["fold", /^(?<times>.+?) occurs? twice on (?<day>\S+) in (?<zone>\S+): fires once$/],
  ["foldTwice", /^(?<times>.+?) occurs? twice on (?<day>\S+) in (?<zone>\S+): fires twice$/],
  ["eitherDay", /^both day fields restricted \(day-of-month (?<day>\S+), day-of-week (?<weekday>\S+)\)/],
  ["falls", /^it falls into (?<rest>.+) and is skipped$/],
  ["fall", /^(?<number>[\d,]+) instants? falls? into (?<rest>.+) and (?:is|are) skipped$/],
  ["fallMore", /^at least (?<number>[\d,]+) instants? falls? into (?<rest>.+) and (?:is|are) skipped$/],
  ["open", /^it is paused until somebody resumes it$/],
  ["often", /^nothing after (?<at>\S+) was looked at: it rests too often$/],
];

/** Null: say it as it came. */
export function noteOf(text: string): Note | null {
  for (const [word, pattern] of NOTES) {
    const found = pattern.exec(text);
    if (found) return { word, values: { ...found.groups } };
  }
  return null;
}

export type Rest = { word: "window" | "pauseUntil" | "pause"; values: Record<string, string> };

/** What an instant falls into, as a note names it. */
export function restOf(text: string): Rest | null {
  const window = /^the maintenance window (['"])(?<name>.*)\1$/.exec(text);
  if (window) return { word: "window", values: { name: window.groups?.name ?? "" } };
  const pause = /^the pause until (?<at>\S+)$/.exec(text);
  if (pause) return { word: "pauseUntil", values: { at: pause.groups?.at ?? "" } };
  return text === "a pause" ? { word: "pause", values: {} } : null;
}
