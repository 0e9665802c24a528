// What differs between two values, a row a field: what was there, and what is there now.
import { useTranslation } from "react-i18next";

import { asText, changesBetween, lineChanges, type Change } from "./diff";
import "./diff.css";

type Props = {
  before: unknown;
  after: unknown;
  /** Fields that say nothing to people. */
  without?: readonly string[];
};

const MARKS = { " ": "same", "-": "old", "+": "new" };

export function Diff({ before, after, without = [] }: Props) {
  const { t } = useTranslation("diff");
  const changes = changesBetween(before, after).filter(({ path }) => !without.includes(path));
  if (changes.length === 0) return <p className="dim">{t("same")}</p>;
  // What was made just now has nothing to be compared with: a column of nothing would only be red.
  const made = changes.every((change) => change.before === undefined);
  return (
    <div className="diff-box" tabIndex={0} role="region" aria-label={t("label")}>
      <table className="diff">
        <thead>
          <tr>
            <th scope="col">{t("field")}</th>
            {made || <th scope="col">{t("before")}</th>}
            <th scope="col">{t("after")}</th>
          </tr>
        </thead>
        <tbody>
          {changes.map((change) => (
            <Row key={change.path} change={change} made={made} />
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Row({ change: { path, before, after }, made }: { change: Change; made: boolean }) {
  const { t } = useTranslation("diff");
  const lines = before === undefined || after === undefined ? null : lineChanges(asText(before), asText(after));
  return (
    <tr>
      <th scope="row" className="mono">
        {path || t("value")}
      </th>
      {lines === null ? (
        <>
          {made || (
            <td className="diff-old">
              <Value value={before} />
            </td>
          )}
          <td className={made ? undefined : "diff-new"}>
            <Value value={after} />
          </td>
        </>
      ) : (
        <td colSpan={2}>
          <pre>
            {lines.map((line, number) => (
              <span key={number} className={`diff-line diff-${MARKS[line.mark]}`}>
                {`${line.mark} ${line.text}\n`}
              </span>
            ))}
          </pre>
        </td>
      )}
    </tr>
  );
}

function Value({ value }: { value: unknown }) {
  const { t } = useTranslation("diff");
  if (value === undefined) return <span className="dim">{t("absent")}</span>;
  if (value === null || value === "") return <span className="dim">{value === null ? t("nothing") : t("empty")}</span>;
  return <pre>{asText(value)}</pre>;
}
