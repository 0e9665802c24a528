// Built-in work on databases: which kinds there are, and what was done of late.
import { SearchOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Button, Input, Skeleton } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { useFilters } from "../../state/url";
import { grouped } from "./kinds";
import { KindCard } from "./KindCard";
import { Recent } from "./Recent";
import { useKindWords } from "./words";
import "./operations.css";

export function OperationsPage() {
  const { t } = useTranslation("operations");
  const [filters, change] = useFilters();
  const found = useGet("/api/v1/kinds", {}, { every: false });
  const sources = useGet("/api/v1/data-sources");
  const words = useKindWords();
  const search = filters.q ?? "";
  const kinds = (found.data?.items ?? []).filter((kind) => kind.role === "operation").map(words);
  const groups = grouped(kinds, search);
  return (
    <Page title={t("title")} about={t("about")}>
      {sources.data?.items.length === 0 && (
        <div className="operations-first">
          <span>{t("noSources")}</span>
          <Link to="/data-sources" search={{ new: "1" } as never}>
            <Button type="primary">{t("addSource")}</Button>
          </Link>
        </div>
      )}
      <Refused refusal={found.error} again={() => void found.refetch()} />
      <div className="operations-body">
        <div>
          <Input
            className="operations-search"
            allowClear
            prefix={<SearchOutlined />}
            placeholder={t("search")}
            aria-label={t("search")}
            defaultValue={search}
            onChange={({ target }) => change({ q: target.value })}
          />
          {found.isLoading && <Skeleton active paragraph={{ rows: 8 }} title={false} />}
          {groups.map(({ name, kinds: some }) => (
            <section key={name} className="operations-group" aria-label={t(`groups.${name}`)}>
              <h2>{t(`groups.${name}`)}</h2>
              <div className="operations-cards">
                {some.map((shown) => (
                  <KindCard key={shown.kind.name} shown={shown} />
                ))}
              </div>
            </section>
          ))}
          {found.data && groups.length === 0 && <p className="dim">{t("noneFound", { text: search })}</p>}
        </div>
        <Recent />
      </div>
    </Page>
  );
}
