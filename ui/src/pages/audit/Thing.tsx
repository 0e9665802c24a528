// What an entry is about, with the way there.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { placeOf } from "./things";

export function Thing({ entry }: { entry: components["schemas"]["AuditLog"] }) {
  const { t } = useTranslation("audit");
  const name = t(`type.${entry.resource_type}`, { defaultValue: entry.resource_type });
  const words = entry.resource_id === null ? name : `${name} ${entry.resource_id}`;
  const place = placeOf(entry.resource_type, entry.resource_id);
  if (place === null) return <span>{words}</span>;
  return (
    <Link to={place.to} search={place.search}>
      {words}
    </Link>
  );
}
