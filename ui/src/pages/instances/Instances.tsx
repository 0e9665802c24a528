// The list of instances: what failed is one click away, every filter is in the address.
import { useLocation } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { FilterBar } from "../../parts/FilterBar";
import { Page } from "../../parts/Page";
import { useFilters } from "../../state/url";
import { useFields } from "./fields";
import "./instances.css";
import { Listed } from "./Listed";
import { NAMES } from "./wanted";

export function InstancesPage() {
  const { t } = useTranslation("instances");
  const [filters, change] = useFilters();
  const fields = useFields(filters);
  const place = useLocation({ select: (location) => location.state.__TSR_key ?? "" });
  const asked = JSON.stringify(NAMES.map((name) => filters[name] ?? ""));
  const clear = () => change(Object.fromEntries(NAMES.map((name) => [name, null])));
  return (
    <Page title={t("title")}>
      <div className="instances">
        <FilterBar search={{ name: "q", label: t("search") }} fields={fields} values={filters} onChange={change} />
        {/* Other filters are another list: its rows, its selection and its "now" begin anew. */}
        <Listed key={asked} filters={filters} place={`${place} ${asked}`} change={change} clear={clear} />
      </div>
    </Page>
  );
}
