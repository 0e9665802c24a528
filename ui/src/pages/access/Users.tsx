// People with a password: made, limited, disabled, given a new password, removed.
import { PlusOutlined } from "@ant-design/icons";
import { Button, Popconfirm, Space, Tag, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { usePaged } from "../../api/paged";
import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { Listing } from "../../parts/Listing";
import { numberOf } from "../../parts/places";
import { Refused } from "../../parts/Refused";
import { Time } from "../../parts/Time";
import { useMe } from "../../state/session";
import { useFilters } from "../../state/url";
import { Limits } from "./Limits";
import { UserForm } from "./UserForm";

type User = components["schemas"]["User"];
const CHANGED = ["/api/v1/users", "/api/v1/sessions"];

export function Users() {
  const { t } = useTranslation("access");
  const me = useMe();
  const [filters, change] = useFilters();
  const users = usePaged("/api/v1/users", { limit: 100 });
  const remove = useAct(
    (user: User) => answer(client.DELETE("/api/v1/users/{user_id}", { params: { path: { user_id: user.id } } })),
    { refresh: CHANGED, done: t("users.removed") },
  );
  const able = useAct(
    (user: User, disabled: boolean) =>
      answer(client.PATCH("/api/v1/users/{user_id}", { params: { path: { user_id: user.id } }, body: { disabled } })),
    { refresh: CHANGED, done: (user) => t(user.disabled_at === null ? "users.enabled" : "users.disabled") },
  );
  const columns: TableColumnsType<User> = [
    {
      key: "name",
      title: t("name"),
      render: (_, user) => (
        <Space>
          <strong>{user.name}</strong>
          {me.id === `user:${user.id}` && <Tag variant="filled">{t("you")}</Tag>}
          {user.disabled_at !== null && (
            <Tag variant="filled" color="red">
              {t("users.isDisabled")}
            </Tag>
          )}
        </Space>
      ),
    },
    { key: "role", title: t("role"), width: 110, render: (_, user) => t(`common:role.${user.role}`) },
    { key: "groups", title: t("groups"), ellipsis: true, render: (_, user) => <Limits groups={user.groups} /> },
    { key: "made", title: t("made"), width: 200, render: (_, user) => <Time at={user.created_at} seconds={false} /> },
    {
      key: "acts",
      title: <span className="access-unseen">{t("acts")}</span>,
      width: 230,
      align: "right",
      render: (_, user) => (
        <Space size={4}>
          <Button size="small" onClick={() => change({ user: String(user.id) })}>
            {t("common:edit")}
          </Button>
          {user.disabled_at === null ? (
            <Popconfirm
              title={t("users.disableAsk", { name: user.name })}
              description={t("users.disableDetail")}
              okText={t("users.disable")}
              onConfirm={() => able.run(user, true)}
            >
              <Button size="small">{t("users.disable")}</Button>
            </Popconfirm>
          ) : (
            <Button size="small" onClick={() => void able.run(user, false)}>
              {t("users.enable")}
            </Button>
          )}
          <Popconfirm
            title={t("users.removeAsk", { name: user.name })}
            description={t("users.removeDetail")}
            okText={t("common:delete")}
            okButtonProps={{ danger: true }}
            onConfirm={() => remove.run(user)}
          >
            <Button size="small" danger>
              {t("common:delete")}
            </Button>
          </Popconfirm>
        </Space>
      ),
    },
  ];
  // Who follows a link may ask for one that is on none of the pages that were loaded.
  const wanted = numberOf(filters.user);
  const listed = users.items.find((user) => user.id === wanted);
  const fetched = useGet(
    "/api/v1/users/{user_id}",
    { path: { user_id: wanted ?? 0 } },
    { enabled: wanted !== null && !users.first && listed === undefined },
  );
  const open = listed ?? (wanted === null ? undefined : fetched.data);
  return (
    <>
      <div className="access-bar">
        <span className="dim">{t("users.about")}</span>
        <Button type="primary" icon={<PlusOutlined />} onClick={() => change({ user: "new" })}>
          {t("users.new")}
        </Button>
      </div>
      <Refused refusal={fetched.error} close={() => change({ user: null })} />
      <Listing list={users} columns={columns} width={860} none={t("users.none")} />
      {(filters.user === "new" || open) && (
        <UserForm key={filters.user} user={open ?? null} onClose={() => change({ user: null })} />
      )}
    </>
  );
}
