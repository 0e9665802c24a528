// Who I am here, until when, and my password.
import { Link, useRouter } from "@tanstack/react-router";
import { Button, Descriptions, Form, Input } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { besides, faultOf } from "../../parts/faults";
import { Refused } from "../../parts/Refused";
import { Time } from "../../parts/Time";
import { signOut, useMay, useMe, whoAmI } from "../../state/session";

type Given = { old: string; new: string; again: string };

export function Mine() {
  const { t } = useTranslation("settings");
  const me = useMe();
  const admin = useMay("admin", { whole: true });
  const leave = useAct(signOut, { then: () => window.location.assign("/sign-in") });
  const items = [
    {
      key: "who",
      label: t("mine.who"),
      children: (
        <span>
          {me.name} <span className="dim mono">{me.id}</span>
        </span>
      ),
    },
    { key: "role", label: t("mine.role"), children: t(`common:role.${me.role}`) },
    {
      key: "groups",
      label: t("mine.groups"),
      children: me.groups === null ? t("mine.allGroups") : me.groups.join(", ") || t("common:none"),
    },
    { key: "until", label: t("mine.until"), children: <Time at={me.expires_at} seconds={false} /> },
  ];
  return (
    <>
      <Descriptions size="small" column={1} items={items} />
      <div className="settings-acts">
        <Button onClick={() => void leave.run()}>{t("shell:signOut")}</Button>
        {admin && (
          <Link to="/access" search={{ tab: "sessions" }}>
            {t("mine.sessions")}
          </Link>
        )}
      </div>
      {me.id.startsWith("user:") ? <Password /> : <p className="dim">{t("mine.token")}</p>}
    </>
  );
}

function Password() {
  const { t } = useTranslation("settings");
  const router = useRouter();
  const [form] = Form.useForm<Given>();
  const change = useAct(
    async (given: Given) => {
      await answer(client.POST("/api/v1/sessions/current/password", { body: { old: given.old, new: given.new } }));
      return whoAmI(); // the cookie is a new one, and so is what guards it against forgery
    },
    {
      quiet: true,
      done: t("password.done"),
      refresh: ["me"],
      then: () => {
        form.resetFields();
        void router.invalidate();
      },
    },
  );
  const needed = { required: true, message: t("password.needed") };
  return (
    <section aria-label={t("password.title")}>
      <h3>{t("password.title")}</h3>
      <Refused refusal={besides(change.refusal, ["old", "new"])} />
      <Form<Given> form={form} layout="vertical" requiredMark={false} onFinish={(given) => void change.run(given)}>
        <Form.Item name="old" label={t("password.old")} rules={[needed]} {...faultOf(change.refusal, "old")}>
          <Input.Password autoComplete="current-password" maxLength={1000} />
        </Form.Item>
        <Form.Item
          name="new"
          label={t("password.new")}
          extra={t("password.help")}
          rules={[needed, { min: 12, message: t("password.help") }]}
          {...faultOf(change.refusal, "new")}
        >
          <Input.Password autoComplete="new-password" maxLength={1000} />
        </Form.Item>
        <Form.Item
          name="again"
          label={t("password.again")}
          dependencies={["new"]}
          rules={[
            needed,
            ({ getFieldValue }) => ({
              validator: (_, value: string) =>
                value === getFieldValue("new") ? Promise.resolve() : Promise.reject(new Error(t("password.differs"))),
            }),
          ]}
        >
          <Input.Password autoComplete="new-password" maxLength={1000} />
        </Form.Item>
        <Button htmlType="submit" loading={change.pending}>
          {t("password.change")}
        </Button>
      </Form>
    </section>
  );
}
