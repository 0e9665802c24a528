// words of notes
// A note of the server about instants, in the reader's language and by the clock that is shown.
import { useTranslation } from "react-i18next";

import { partsIn } from "../time/format";
import { noteOf, restOf } from "../time/notes";
import { useZones } from "../time/zone";

/** An instant as the server writes it within a sentence. */
const INSTANT = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/g;

export function useNotes(): (text: string, zone?: string | null) => string {
  const { t } = useTranslation("notes");
  const zoneOf = useZones();
  return (text, zone) => {
    const timed = (words: string) =>
      words.replaceAll(INSTANT, (instant) => {
        const parts = partsIn(new Date(instant), zoneOf(zone));
        return `${parts.date} ${parts.clock} ${parts.zone}`;
      });
    const note = noteOf(text);
    if (note === null) return timed(text);
    const { rest = "", number = "" } = note.values;
    const into = restOf(rest);
    const what = into === null ? rest : t(`rest.${into.word}`, into.values);
    return timed(t(note.word, { ...note.values, what, count: Number(number.replaceAll(",", "")) }));
  };
}
