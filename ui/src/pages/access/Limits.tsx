// The groups that somebody is limited to.
import { Select } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { Role } from "../../state/session";

type GroupsProps = { id?: string; value?: string[] | null; onChange?: (value: string[] | null) => void };

/** A field of a form: none chosen means all of them. */
export function GroupsField({ id, value, onChange }: GroupsProps) {
  const { t } = useTranslation("access");
  const groups = useGet("/api/v1/groups", {}, { every: false });
  return (
    <Select
      id={id}
      mode="multiple"
      allowClear
      value={value ?? []}
      placeholder={t("allGroups")}
      options={(groups.data?.items ?? []).map((group) => ({ value: group.name, label: group.name }))}
      onChange={(chosen: string[]) => onChange?.(chosen.length > 0 ? chosen : null)}
    />
  );
}

type RoleProps = { id?: string; value?: Role; onChange?: (value: Role) => void };

export function RoleField({ id, value, onChange }: RoleProps) {
  const { t } = useTranslation("access");
  const roles: Role[] = ["viewer", "operator", "editor", "admin"];
  return (
    <Select<Role>
      id={id}
      value={value}
      onChange={onChange}
      options={roles.map((role) => ({
        value: role,
        label: `${t(`common:role.${role}`)}: ${t(`roles.short.${role}`)}`,
      }))}
    />
  );
}

export function Limits({ groups }: { groups: readonly string[] | null }) {
  const { t } = useTranslation("access");
  if (groups === null) return <span className="dim">{t("allGroups")}</span>;
  if (groups.length === 0) return <span>{t("noGroup")}</span>;
  return <span>{groups.join(", ")}</span>;
}
