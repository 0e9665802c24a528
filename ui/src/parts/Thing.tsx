// What an entry of the audit is about, with the way there.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { components } from "../api/schema";
import { placeOf } from "./places";

type Props = { entry: components["schemas"]["AuditLog"] };

export function Thing({ entry }: Props) {
  const place = placeOf(entry.resource_type, entry.resource_id);
  if (place === null) return <ThingWords entry={entry} />;
  return (
    <Link to={place.to} search={place.search}>
      <ThingWords entry={entry} />
    </Link>
  );
}

/** The same in words alone, for where a link cannot be. */
export function ThingWords({ entry }: Props) {
  const { t } = useTranslation("audit");
  const name = t(`type.${entry.resource_type}`, { defaultValue: entry.resource_type });
  return <span>{entry.resource_id === null ? name : `${name} ${entry.resource_id}`}</span>;
}
