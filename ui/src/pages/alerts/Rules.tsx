// The rules: what each looks at, whom it tells, and whether it is on.
import { Button, Popconfirm, Space, Switch, type TableColumnsType } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { Paged } from "../../api/paged";
import type { components } from "../../api/schema";
import { Listing } from "../../parts/Listing";
import { useMay } from "../../state/session";
import { useFilters } from "../../state/url";
import type { Condition } from "./conditions";
import { Said } from "./Said";
import { edited } from "./saving";
import { Tested } from "./Tested";

type Rule = components["schemas"]["AlertRuleOutput"];

export function Rules({ rules }: { rules: Paged<Rule> }) {
  const { t } = useTranslation("alerts");
  const [, change] = useFilters();
  const may = useMay("editor", { whole: true });
  const [tried, setTried] = useState<Rule | null>(null);
  const refresh = ["/api/v1/alert"];
  const remove = useAct(
    (rule: Rule) => answer(client.DELETE("/api/v1/alert-rules/{rule_id}", { params: { path: { rule_id: rule.id } } })),
    { refresh, done: t("rules.deleted") },
  );
  const able = useAct((rule: Rule, enabled: boolean) => edited(rule.id, { enabled }), { refresh });
  const columns: TableColumnsType<Rule> = [
    {
      key: "on",
      title: t("rules.on"),
      width: 60,
      render: (_, rule) => (
        <Switch
          size="small"
          checked={rule.enabled}
          disabled={!may}
          aria-label={t("rules.onOf", { name: rule.name })}
          onChange={(on) => void able.run(rule, on)}
        />
      ),
    },
    { key: "name", title: t("rules.name"), width: 260, render: (_, rule) => <strong>{rule.name}</strong> },
    {
      key: "says",
      title: t("rules.says"),
      render: (_, rule) => <Said condition={rule.condition as Condition} scope={rule.scope} />,
    },
    {
      key: "targets",
      title: t("rules.tells"),
      width: 240,
      ellipsis: true,
      render: (_, rule) =>
        rule.targets.length === 0 ? (
          <span className="dim">{t("rules.nobody")}</span>
        ) : (
          rule.targets.map((target) => target.target).join(", ")
        ),
    },
    ...(may
      ? [
          {
            key: "acts",
            title: <span className="alerts-unseen">{t("rules.acts")}</span>,
            width: 200,
            align: "right" as const,
            render: (_: unknown, rule: Rule) => (
              <Space size={4}>
                <Button size="small" onClick={() => change({ rule: String(rule.id) })}>
                  {t("common:edit")}
                </Button>
                <Button size="small" disabled={rule.targets.length === 0} onClick={() => setTried(rule)}>
                  {t("rules.test")}
                </Button>
                <Popconfirm
                  title={t("rules.deleteAsk", { name: rule.name })}
                  description={t("rules.deleteDetail")}
                  okText={t("common:delete")}
                  okButtonProps={{ danger: true }}
                  onConfirm={() => remove.run(rule)}
                >
                  <Button size="small" danger>
                    {t("common:delete")}
                  </Button>
                </Popconfirm>
              </Space>
            ),
          },
        ]
      : []),
  ];
  return (
    <>
      <Listing list={rules} columns={columns} width={980} none={t("rules.none")} />
      {tried !== null && <Tested rule={tried} onClose={() => setTried(null)} />}
    </>
  );
}
