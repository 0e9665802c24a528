// What is typed to sign in: a name and a password, or a token; and that it was wrong.
import { Alert, Button, Form, Input, Segmented, Typography } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

type Typed = { name: string; password: string; token: string };
export type Given = { name: string; password: string } | { token: string };

export function SignInForm({ pending, onDone }: { pending: boolean; onDone: (given: Given) => void }) {
  const { t } = useTranslation("access");
  const [form] = Form.useForm<Typed>();
  const [by, setBy] = useState<"user" | "token">("user");
  return (
    <>
      <Segmented
        block
        className="access-by"
        aria-label={t("signIn.by")}
        value={by}
        onChange={setBy}
        options={[
          { value: "user", label: t("signIn.byUser") },
          { value: "token", label: t("signIn.byToken") },
        ]}
      />
      <Form<Typed>
        form={form}
        layout="vertical"
        requiredMark={false}
        onFinish={(typed) => {
          form.resetFields(["password", "token"]);
          onDone(
            by === "token" ? { token: typed.token.trim() } : { name: typed.name.trim(), password: typed.password },
          );
        }}
      >
        {by === "token" ? (
          <Form.Item
            name="token"
            label={t("signIn.token")}
            rules={[{ required: true, whitespace: true, message: t("needed") }]}
          >
            <Input.Password autoComplete="off" maxLength={1000} />
          </Form.Item>
        ) : (
          <>
            <Form.Item
              name="name"
              label={t("name")}
              rules={[{ required: true, whitespace: true, message: t("needed") }]}
            >
              <Input autoFocus autoComplete="username" autoCapitalize="none" spellCheck={false} maxLength={200} />
            </Form.Item>
            <Form.Item name="password" label={t("password")} rules={[{ required: true, message: t("needed") }]}>
              <Input.Password autoComplete="current-password" maxLength={1000} />
            </Form.Item>
          </>
        )}
        <Button type="primary" htmlType="submit" block loading={pending}>
          {t("signIn.title")}
        </Button>
      </Form>
      <Typography.Paragraph type="secondary" className="access-first">
        {by === "token" ? (
          <>
            {t("signIn.firstToken")} <code>hourhand-data/admin-token</code>
          </>
        ) : (
          <>
            {t("signIn.first")} <code>hourhand user add NAME</code>
          </>
        )}
      </Typography.Paragraph>
    </>
  );
}

/** Whoever signs in was not signed in before: a 401 is about what they typed. */
export function Wrong({ token }: { token: boolean }) {
  const { t } = useTranslation("access");
  return (
    <Alert
      type="error"
      showIcon
      role="alert"
      className="refused"
      title={token ? t("signIn.wrongToken") : t("signIn.wrongPassword")}
      description={token ? t("signIn.wrongTokenHelp") : t("signIn.wrongPasswordHelp")}
    />
  );
}
