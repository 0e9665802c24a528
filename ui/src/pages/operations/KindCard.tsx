// One kind: what it does, and on which databases.
import { Link } from "@tanstack/react-router";
import { Tooltip } from "antd";
import { useTranslation } from "react-i18next";

import { DIALECTS, type Dialect, type Shown } from "./kinds";

export function KindCard({ shown: { kind, title, about } }: { shown: Shown }) {
  const { t } = useTranslation("operations");
  const dialects = (Object.keys(DIALECTS) as Dialect[]).filter((name) => kind.dialects?.[name] !== undefined);
  return (
    <article className="operations-card">
      <h3>
        <Link to="/operations/$kind" params={{ kind: kind.name }}>
          {title}
        </Link>
      </h3>
      <p>{about}</p>
      <footer>
        <span className="mono dim">
          {kind.number} {kind.name}
        </span>
        <ul className="operations-dialects" aria-label={t("where")}>
          {dialects.map((name) => {
            const { support, reason } = kind.dialects?.[name] ?? { support: "refused", reason: "" };
            const word = t(`support.${support}`);
            return (
              <li key={name} className={`operations-on-${support}`}>
                <Tooltip title={reason === "" ? word : `${word}: ${reason}`}>
                  <span tabIndex={0}>
                    {DIALECTS[name]}
                    <span className="operations-hidden"> ({word})</span>
                  </span>
                </Tooltip>
              </li>
            );
          })}
        </ul>
      </footer>
    </article>
  );
}
