// What is wrong just now, what was told of it to whom, and the rules by which that is decided.
import { PlusOutlined } from "@ant-design/icons";
import { Button, Tabs } from "antd";
import { useTranslation } from "react-i18next";

import { usePaged } from "../../api/paged";
import { useGet } from "../../api/queries";
import { Page } from "../../parts/Page";
import { numberOf } from "../../parts/places";
import { Refused } from "../../parts/Refused";
import { useMay } from "../../state/session";
import { useFilters } from "../../state/url";
import "./alerts.css";
import { Firing } from "./Firing";
import { Notices } from "./Notices";
import { RuleForm } from "./RuleForm";
import { Rules } from "./Rules";

export function AlertsPage() {
  const { t } = useTranslation("alerts");
  const [filters, change] = useFilters();
  const may = useMay("editor", { whole: true });
  const now = useGet("/api/v1/alerts", { query: { limit: 1 } });
  const rules = usePaged("/api/v1/alert-rules", { limit: 200 });
  // Who follows a link may ask for one that is on none of the pages that were loaded.
  const wanted = numberOf(filters.rule);
  const listed = rules.items.find((rule) => rule.id === wanted);
  const fetched = useGet(
    "/api/v1/alert-rules/{rule_id}",
    { path: { rule_id: wanted ?? 0 } },
    { enabled: wanted !== null && !rules.first && listed === undefined },
  );
  const open = listed ?? (wanted === null ? undefined : fetched.data);
  return (
    <Page
      title={t("title")}
      about={t("about")}
      actions={
        may && (
          <Button type="primary" icon={<PlusOutlined />} onClick={() => change({ rule: "new" })}>
            {t("rules.new")}
          </Button>
        )
      }
    >
      <Refused refusal={now.error} again={() => void now.refetch()} />
      <Refused refusal={fetched.error} close={() => change({ rule: null })} />
      <Firing firing={now.data?.firing} rules={rules.items} />
      <Tabs
        activeKey={filters.tab ?? "told"}
        destroyOnHidden
        onChange={(tab) => change({ tab: tab === "told" ? null : tab })}
        items={[
          { key: "told", label: t("tabs.told"), children: <Notices /> },
          { key: "rules", label: t("tabs.rules"), children: <Rules rules={rules} /> },
        ]}
      />
      {(filters.rule === "new" || open) && (
        <RuleForm key={filters.rule} rule={open ?? null} onClose={() => change({ rule: null })} />
      )}
    </Page>
  );
}
