// A rule to be made or changed: when this holds, for these, tell those.
import { Button, Drawer, Form, Input, InputNumber, Switch } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import type { components } from "../../api/schema";
import { AuditedFold } from "../../parts/Audited";
import { besides, faultOf } from "../../parts/faults";
import { focusOn } from "../../parts/focus";
import { Refused } from "../../parts/Refused";
import { useMay } from "../../state/session";
import { ConditionField } from "./ConditionField";
import { conditionOf, scopeOf, written, type Condition, type Scope } from "./conditions";
import { QuietField, type Quiet } from "./QuietField";
import { Said } from "./Said";
import { edited, made } from "./saving";
import { ScopeField } from "./ScopeField";
import { TargetsField, type TargetValue } from "./TargetsField";

type Rule = components["schemas"]["AlertRuleOutput"];
type Given = {
  name: string;
  condition: Condition;
  scope: Scope;
  targets: TargetValue[];
  enabled: boolean;
  notify_recovery: boolean;
  group_seconds: number;
  repeat_seconds: number | null;
  quiet_hours: Quiet | null;
};
const FIELDS = ["name", "condition", "scope", "targets", "group_seconds", "repeat_seconds", "quiet_hours"];

export function RuleForm({ rule, onClose }: { rule: Rule | null; onClose: () => void }) {
  const { t } = useTranslation("alerts");
  const may = useMay("editor", { whole: true });
  const [form] = Form.useForm<Given>();
  const condition = Form.useWatch("condition", form) as Condition | undefined;
  const scope = Form.useWatch("scope", form) as Scope | undefined;
  const save = useAct(
    (given: Given) => {
      const body = {
        ...given,
        name: given.name.trim(),
        scope: written(given.scope),
        targets: given.targets.map((target) => (target.id === null ? target.value : { id: target.id })),
      };
      return rule === null ? made(body) : edited(rule.id, body);
    },
    { quiet: true, refresh: ["/api/v1/alert"], done: t("form.saved"), then: onClose },
  );
  const fault = (field: string) => faultOf(save.refusal, field);
  return (
    <Drawer
      open
      onClose={onClose}
      afterOpenChange={focusOn("rule_name")}
      size={600}
      title={rule === null ? t("rules.new") : t("form.edit", { name: rule.name })}
      footer={
        may && (
          <div className="alerts-row">
            <Button type="primary" loading={save.pending} onClick={() => form.submit()}>
              {t("common:save")}
            </Button>
            <Button onClick={onClose}>{t("common:cancel")}</Button>
          </div>
        )
      }
    >
      <Refused refusal={besides(save.refusal, FIELDS)} />
      <Form<Given>
        form={form}
        name="rule"
        layout="vertical"
        disabled={!may}
        initialValues={firstOf(rule)}
        onFinish={(given) => void save.run(given)}
      >
        <Form.Item
          name="name"
          label={t("form.name")}
          rules={[{ required: true, whitespace: true, message: t("form.needed") }]}
          {...fault("name")}
        >
          <Input maxLength={200} />
        </Form.Item>
        <Form.Item name="condition" label={t("form.condition")} {...fault("condition")}>
          <ConditionField />
        </Form.Item>
        <Form.Item name="scope" label={t("form.scope")} {...fault("scope")}>
          <ScopeField />
        </Form.Item>
        {condition && scope && (
          <p className="alerts-said" role="status">
            <Said condition={condition} scope={written(scope)} />
            <br />
            <span className="dim">{t(`over.${condition.kind}`)}</span>
          </p>
        )}
        <Form.Item name="targets" label={t("form.targets")} extra={t("form.targetsHelp")} {...fault("targets")}>
          <TargetsField />
        </Form.Item>
        <Form.Item
          name="repeat_seconds"
          label={t("form.repeat")}
          extra={t("form.repeatHelp")}
          {...fault("repeat_seconds")}
        >
          <InputNumber min={1} precision={0} suffix={t("unit.seconds")} className="alerts-number" />
        </Form.Item>
        <Form.Item name="group_seconds" label={t("form.group")} extra={t("form.groupHelp")} {...fault("group_seconds")}>
          <InputNumber min={0} precision={0} suffix={t("unit.seconds")} className="alerts-number" />
        </Form.Item>
        <Form.Item name="quiet_hours" label={t("quiet.label")} extra={t("quiet.help")} {...fault("quiet_hours")}>
          <QuietField />
        </Form.Item>
        <Form.Item name="notify_recovery" label={t("form.recovery")} valuePropName="checked" layout="horizontal">
          <Switch size="small" />
        </Form.Item>
        <Form.Item name="enabled" label={t("form.enabled")} valuePropName="checked" layout="horizontal">
          <Switch size="small" />
        </Form.Item>
      </Form>
      {rule !== null && <AuditedFold of={{ type: "alert-rule", id: rule.id }} />}
    </Drawer>
  );
}

function firstOf(rule: Rule | null): Partial<Given> {
  if (rule === null) {
    return {
      condition: conditionOf("failed_in_a_row"),
      scope: { of: "all", name: "" },
      targets: [],
      enabled: true,
      notify_recovery: true,
      group_seconds: 60,
      repeat_seconds: null,
      quiet_hours: null,
    };
  }
  return {
    name: rule.name,
    condition: rule.condition as Condition,
    scope: scopeOf(rule.scope),
    targets: rule.targets.map((target) => ({ id: target.id, kind: target.kind, value: target.target })),
    enabled: rule.enabled,
    notify_recovery: rule.notify_recovery,
    group_seconds: rule.group_seconds,
    repeat_seconds: rule.repeat_seconds,
    quiet_hours: rule.quiet_hours as Quiet | null,
  };
}
