// A token to be made; what comes back is shown this once.
import { Alert, Button, Form, Input, Modal, Segmented, Typography } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";
import { focusOn } from "../../parts/focus";
import { Refused } from "../../parts/Refused";
import { LocalTime } from "../../parts/LocalTime";
import type { Role } from "../../state/session";
import { besides, faultOf } from "../../parts/faults";
import { useZone } from "../../time/zone";
import { GroupsField, RoleField } from "./Limits";

type Given = { name: string; role: Role; groups: string[] | null; lasts: string; until?: string | null };
const FIELDS = ["name", "role", "groups", "expires_at"];

export function TokenForm({ onClose }: { onClose: () => void }) {
  const { t } = useTranslation("access");
  const [form] = Form.useForm<Given>();
  const [made, setMade] = useState<components["schemas"]["MadeToken"] | null>(null);
  const lasts = Form.useWatch("lasts", form) as string | undefined;
  const save = useAct(
    ({ name, role, groups, lasts, until }: Given) => {
      const expires_at = lasts === "never" ? null : lasts === "until" ? (until ?? null) : daysFromNow(Number(lasts));
      return answer(client.POST("/api/v1/tokens", { body: { name: name.trim(), role, groups, expires_at } }));
    },
    { quiet: true, refresh: ["/api/v1/tokens"], then: setMade },
  );
  return (
    <Modal
      open
      afterOpenChange={focusOn("token_name")}
      // Not by a click beside it: the token would be gone for good.
      mask={{ closable: made === null }}
      keyboard={made === null}
      onCancel={onClose}
      title={t("tokens.new")}
      footer={
        made === null ? (
          <>
            <Button onClick={onClose}>{t("common:cancel")}</Button>
            <Button type="primary" loading={save.pending} onClick={() => form.submit()}>
              {t("tokens.make")}
            </Button>
          </>
        ) : (
          <Button type="primary" onClick={onClose}>
            {t("tokens.kept")}
          </Button>
        )
      }
    >
      {made !== null ? (
        <>
          <Alert type="warning" showIcon title={t("tokens.once")} description={t("tokens.onceDetail")} />
          <Typography.Paragraph className="mono access-token" copyable={{ text: made.token ?? "" }}>
            <span data-testid="token">{made.token}</span>
          </Typography.Paragraph>
        </>
      ) : (
        <>
          <Refused refusal={besides(save.refusal, FIELDS)} />
          <Form<Given>
            form={form}
            name="token"
            layout="vertical"
            initialValues={{ role: "operator", groups: null, lasts: "90" }}
            onFinish={(given) => void save.run(given)}
          >
            <Form.Item
              name="name"
              label={t("tokens.for")}
              rules={[{ required: true, whitespace: true, message: t("needed") }]}
              {...faultOf(save.refusal, "name")}
            >
              <Input autoComplete="off" maxLength={200} placeholder={t("tokens.example")} />
            </Form.Item>
            <Form.Item name="role" label={t("role")} {...faultOf(save.refusal, "role")}>
              <RoleField />
            </Form.Item>
            <Form.Item name="groups" label={t("groups")} extra={t("groupsHelp")} {...faultOf(save.refusal, "groups")}>
              <GroupsField />
            </Form.Item>
            <Form.Item name="lasts" label={t("tokens.lasts")} {...faultOf(save.refusal, "expires_at")}>
              <Segmented
                options={[
                  { value: "30", label: t("tokens.days", { count: 30 }) },
                  { value: "90", label: t("tokens.days", { count: 90 }) },
                  { value: "365", label: t("tokens.days", { count: 365 }) },
                  { value: "until", label: t("common:until") },
                  { value: "never", label: t("tokens.forever") },
                ]}
              />
            </Form.Item>
            {lasts === "until" && (
              <Form.Item name="until" label={t("common:until")} rules={[{ required: true, message: t("needed") }]}>
                <Until />
              </Form.Item>
            )}
          </Form>
        </>
      )}
    </Modal>
  );
}

function Until({ id, onChange }: { id?: string; onChange?: (value: string | null) => void }) {
  return <LocalTime id={id} value={null} zone={useZone()} onChange={(at) => onChange?.(at)} />;
}

function daysFromNow(days: number): string {
  return new Date(Date.now() + days * 86_400_000).toISOString();
}
