// The next instants by the task's clock, and what the clocks will do to them.
import { WarningOutlined } from "@ant-design/icons";
import { useTranslation } from "react-i18next";

import { useNotes } from "../../parts/notes";
import { usePreferences } from "../../state/preferences";
import { partsIn, relative } from "../../time/format";
import { useNow } from "../../time/now";
import { useZone } from "../../time/zone";
import { formOf } from "./schedule";
import type { Previewed } from "./usePreview";
import { weekdayOf } from "./words";

type Props = { preview: Previewed | null; schedule: string; timezone: string; wrong: boolean };

export function Preview({ preview, schedule, timezone, wrong }: Props) {
  const { t } = useTranslation("editor");
  const { language } = usePreferences();
  const now = new Date(useNow());
  const mine = useZone(timezone);
  const form = formOf(schedule);
  const told = useNotes();
  const notes = (preview?.notes ?? []).map((text) => told(text, timezone));
  return (
    <div className="editor-preview" aria-live="polite">
      <h3>{t("preview.title")}</h3>
      {preview === null || preview.instants.length === 0 ? (
        <p className="dim">{wrong ? t("preview.wrong") : t(`preview.none.${form}`)}</p>
      ) : (
        <table aria-label={t("preview.title")}>
          <thead>
            <tr>
              <th scope="col">{timezone}</th>
              {mine !== timezone && <th scope="col">{mine}</th>}
              <th scope="col">{t("preview.in")}</th>
            </tr>
          </thead>
          <tbody>
            {preview.instants.map((instant) => {
              const at = new Date(instant);
              return (
                <tr key={instant}>
                  <td>
                    <span className="dim">{weekdayOf(at, timezone, language)}</span> {clock(at, timezone)}
                  </td>
                  {mine !== timezone && <td className="dim">{beside(at, mine, timezone)}</td>}
                  <td className="dim">{relative(at, now, language)}</td>
                </tr>
              );
            })}
          </tbody>
        </table>
      )}
      {notes.length > 0 && (
        <ul className="editor-notes">
          {notes.map((note) => (
            <li key={note}>
              <WarningOutlined aria-hidden="true" /> {note}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

function clock(at: Date, zone: string): string {
  const parts = partsIn(at, zone);
  return `${parts.date} ${parts.clock}`;
}

/** By another clock: the day only where it is another. */
function beside(at: Date, zone: string, task: string): string {
  const parts = partsIn(at, zone);
  return parts.date === partsIn(at, task).date ? parts.clock : `${parts.date.slice(5)} ${parts.clock}`;
}
