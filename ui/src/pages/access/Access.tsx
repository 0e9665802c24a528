// Who may come in: users with a password, tokens for programs, the sessions there are, and what each role may do.
import { Tabs } from "antd";
import { useTranslation } from "react-i18next";

import { Page } from "../../parts/Page";
import { useFilters } from "../../state/url";
import "./access.css";
import { Roles } from "./Roles";
import { Sessions } from "./Sessions";
import { Tokens } from "./Tokens";
import { Users } from "./Users";

export function AccessPage() {
  const { t } = useTranslation("access");
  const [filters, change] = useFilters();
  return (
    <Page title={t("title")}>
      <Tabs
        activeKey={filters.tab ?? "users"}
        destroyOnHidden
        onChange={(tab) => change({ tab: tab === "users" ? null : tab })}
        items={[
          { key: "users", label: t("tabs.users"), children: <Users /> },
          { key: "tokens", label: t("tabs.tokens"), children: <Tokens /> },
          { key: "sessions", label: t("tabs.sessions"), children: <Sessions /> },
          { key: "roles", label: t("tabs.roles"), children: <Roles /> },
        ]}
      />
    </Page>
  );
}
