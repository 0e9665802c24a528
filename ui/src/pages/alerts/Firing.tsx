// What a condition holds for just now; it comes first.
import { CheckCircleOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Skeleton, Table, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { labelled } from "../../parts/cards";
import { Time } from "../../parts/Time";
import { subjectPlace } from "./delivery";

type One = components["schemas"]["FiringOutput"];
type Rule = components["schemas"]["AlertRuleOutput"];

type Props = { firing: One[] | undefined; rules: readonly Rule[] };

export function Firing({ firing, rules }: Props) {
  const { t } = useTranslation("alerts");
  const columns: TableColumnsType<One> = [
    {
      key: "text",
      title: t("firing.text"),
      render: (_, one) => {
        const place = subjectPlace(one.about);
        return place === null ? one.text : <Link to={place}>{one.text}</Link>;
      },
    },
    {
      key: "rule",
      title: t("rule"),
      width: 240,
      ellipsis: true,
      render: (_, one) => (
        <Link to="." search={{ tab: "rules", rule: String(one.rule_id) }}>
          {one.rule_name}
        </Link>
      ),
    },
    {
      key: "since",
      title: t("firing.since"),
      width: 200,
      render: (_, one) => <Time at={one.firing_since} />,
    },
    {
      key: "told",
      title: t("firing.told"),
      width: 130,
      render: (_, one) => {
        const rule = rules.find(({ id }) => id === one.rule_id);
        if (rule?.targets.length === 0) return <span className="dim">{t("firing.nobody")}</span>;
        return one.last_notified_at === null ? t("firing.notYet") : <Time at={one.last_notified_at} as="relative" />;
      },
    },
  ];
  return (
    <section className="alerts-firing" aria-label={t("firing.title")}>
      <h2>
        {t("firing.title")} {firing && firing.length > 0 && <span className="alerts-count">{firing.length}</span>}
      </h2>
      {firing === undefined ? (
        <Skeleton active title={false} paragraph={{ rows: 1 }} />
      ) : firing.length === 0 ? (
        <p className="alerts-calm">
          <CheckCircleOutlined /> {rules.length === 0 ? t("firing.noRules") : t("firing.none")}
        </p>
      ) : (
        <Table<One>
          className="cards"
          size="small"
          rowKey={(one) => `${one.rule_id} ${one.subject}`}
          columns={labelled(columns)}
          dataSource={firing}
          pagination={firing.length > 20 ? { pageSize: 20, size: "small", showSizeChanger: false } : false}
          scroll={{ x: 860 }}
        />
      )}
    </section>
  );
}
