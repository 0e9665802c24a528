// A user to be made or changed; a password is typed, never shown.
import { Alert, Button, Drawer, Form, Input } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";
import { AuditedFold } from "../../parts/Audited";
import { focusOn } from "../../parts/focus";
import { Refused } from "../../parts/Refused";
import { useMe, type Role } from "../../state/session";
import { besides, faultOf } from "../../parts/faults";
import { GroupsField, RoleField } from "./Limits";

type User = components["schemas"]["User"];
type Given = { name: string; role: Role; groups: string[] | null; password?: string };
const FIELDS = ["name", "role", "groups", "password"];

export function UserForm({ user, onClose }: { user: User | null; onClose: () => void }) {
  const { t } = useTranslation("access");
  const me = useMe();
  const [form] = Form.useForm<Given>();
  const save = useAct((given: Given) => written(user, given), {
    quiet: true,
    refresh: ["/api/v1/users", "/api/v1/sessions"],
    done: t("users.saved"),
    then: onClose,
  });
  return (
    <Drawer
      open
      onClose={onClose}
      afterOpenChange={focusOn(user === null ? "user_name" : "user_role")}
      size={460}
      title={user === null ? t("users.new") : t("users.edit", { name: user.name })}
      footer={
        <div className="access-row">
          <Button type="primary" loading={save.pending} onClick={() => form.submit()}>
            {t("common:save")}
          </Button>
          <Button onClick={onClose}>{t("common:cancel")}</Button>
        </div>
      }
    >
      <Refused refusal={besides(save.refusal, FIELDS)} />
      {user !== null && (
        <Alert
          className="access-told"
          type="warning"
          title={me.id === `user:${user.id}` ? t("users.endsYours") : t("users.ends", { name: user.name })}
        />
      )}
      <Form<Given>
        form={form}
        name="user"
        layout="vertical"
        initialValues={{ role: user?.role ?? "viewer", groups: user?.groups ?? null }}
        onFinish={(given) => void save.run(given)}
      >
        {user === null && (
          <Form.Item
            name="name"
            label={t("name")}
            rules={[{ required: true, whitespace: true, message: t("needed") }]}
            {...faultOf(save.refusal, "name")}
          >
            <Input autoComplete="off" autoCapitalize="none" spellCheck={false} maxLength={200} />
          </Form.Item>
        )}
        <Form.Item name="role" label={t("role")} {...faultOf(save.refusal, "role")}>
          <RoleField />
        </Form.Item>
        <Form.Item name="groups" label={t("groups")} extra={t("groupsHelp")} {...faultOf(save.refusal, "groups")}>
          <GroupsField />
        </Form.Item>
        <Form.Item
          name="password"
          label={user === null ? t("password") : t("users.newPassword")}
          extra={user === null ? t("passwordHelp") : t("users.newPasswordHelp")}
          rules={[
            { required: user === null, message: t("needed") },
            { min: 12, message: t("passwordHelp") },
          ]}
          {...faultOf(save.refusal, "password")}
        >
          <Input.Password autoComplete="new-password" maxLength={1000} />
        </Form.Item>
      </Form>
      {user !== null && <AuditedFold of={{ type: "user", id: user.id }} />}
    </Drawer>
  );
}

function written(user: User | null, { name, role, groups, password }: Given): Promise<User> {
  if (user === null) {
    return answer(
      client.POST("/api/v1/users", { body: { name: name.trim(), role, groups, password: password ?? "" } }),
    );
  }
  // What stays as it is is not sent: the audit tells what was changed, and of a group that is gone nothing is said.
  const same = JSON.stringify(groups) === JSON.stringify(user.groups);
  return answer(
    client.PATCH("/api/v1/users/{user_id}", {
      params: { path: { user_id: user.id } },
      body: {
        ...(role === user.role ? {} : { role }),
        ...(same ? {} : { groups }),
        ...(password ? { password } : {}),
      },
    }),
  );
}
