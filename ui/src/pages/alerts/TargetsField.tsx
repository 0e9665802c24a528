// Whom to tell. Those there are, are kept by their id, since what they hold is shown to nobody; new ones are written.
import { DeleteOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Dropdown, Tag } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { SchemaForm } from "../../parts/SchemaForm";

/** `id` of one that is stored: then `value` is what may be shown of it. */
export type TargetValue = { id: string | null; kind: string; value: unknown };
type Props = { id?: string; value?: TargetValue[]; onChange?: (value: TargetValue[]) => void };

export function TargetsField({ id, value = [], onChange }: Props) {
  const { t } = useTranslation("alerts");
  const kinds = useGet("/api/v1/kinds", {}, { every: false });
  const notifiers = (kinds.data?.items ?? []).filter((kind) => kind.role === "notifier");
  const replace = (at: number, next: unknown) =>
    onChange?.(value.map((target, number) => (number === at ? { ...target, value: next } : target)));
  const add = (kind: string) => {
    const empty = notifiers.find((one) => one.name === kind)?.parameters.type === "string" ? "" : {};
    onChange?.([...value, { id: null, kind, value: empty }]);
  };
  return (
    <div id={id}>
      {value.map((target, number) => {
        const schema = notifiers.find((kind) => kind.name === target.kind)?.parameters;
        return (
          <div key={target.id ?? number} className="alerts-target">
            <Tag variant="filled">{t(`notifier.${target.kind}`, { defaultValue: target.kind })}</Tag>
            <div className="alerts-target-value">
              {target.id === null && schema ? (
                <SchemaForm schema={schema} value={target.value} onChange={(next) => replace(number, next)} />
              ) : (
                <span className="mono">{typeof target.value === "string" ? target.value : ""}</span>
              )}
            </div>
            <Button
              type="text"
              icon={<DeleteOutlined />}
              aria-label={t("form.removeTarget", { number: number + 1 })}
              onClick={() => onChange?.(value.filter((_, at) => at !== number))}
            />
          </div>
        );
      })}
      <Dropdown
        trigger={["click"]}
        menu={{
          items: notifiers.map((kind) => ({
            key: kind.name,
            label: t(`notifierChoice.${kind.name}`, { defaultValue: kind.description }),
          })),
          onClick: ({ key }) => add(key),
        }}
      >
        <Button size="small" icon={<PlusOutlined />}>
          {t("form.addTarget")}
        </Button>
      </Dropdown>
    </div>
  );
}
