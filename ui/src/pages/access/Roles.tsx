// What each role may do: each also does what those before it may.
import { CheckOutlined } from "@ant-design/icons";
import { Table, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { reaches, type Role } from "../../state/session";

const ROLES: readonly Role[] = ["viewer", "operator", "editor", "admin"];
const MAY: readonly { key: string; least: Role; whole?: boolean }[] = [
  { key: "look", least: "viewer" },
  { key: "alerts", least: "viewer", whole: true },
  { key: "run", least: "operator" },
  { key: "pause", least: "operator" },
  { key: "diagnosis", least: "operator", whole: true },
  { key: "tasks", least: "editor" },
  { key: "windows", least: "editor" },
  { key: "rules", least: "editor", whole: true },
  { key: "operations", least: "editor", whole: true },
  { key: "audit", least: "editor", whole: true },
  { key: "groups", least: "admin", whole: true },
  { key: "sources", least: "admin", whole: true },
  { key: "people", least: "admin", whole: true },
  { key: "beyond", least: "admin" },
];

export function Roles() {
  const { t } = useTranslation("access");
  const columns: TableColumnsType<(typeof MAY)[number]> = [
    {
      key: "may",
      title: t("roles.may"),
      render: (_, row) => (
        <>
          {t(`roles.${row.key}`)} {row.whole && <sup aria-hidden="true">1</sup>}
        </>
      ),
    },
    ...ROLES.map((role) => ({
      key: role,
      title: t(`common:role.${role}`),
      width: 110,
      align: "center" as const,
      render: (_: unknown, row: (typeof MAY)[number]) =>
        reaches(role, row.least) ? (
          <CheckOutlined aria-label={t("common:yes")} role="img" />
        ) : (
          <span className="dim" role="img" aria-label={t("common:no")}>
            –
          </span>
        ),
    })),
  ];
  return (
    <div className="access-roles">
      <p className="dim">{t("roles.about")}</p>
      <Table size="small" rowKey="key" columns={columns} dataSource={MAY} pagination={false} scroll={{ x: 640 }} />
      <p className="dim">
        <sup>1</sup> {t("roles.limited")}
      </p>
    </div>
  );
}
