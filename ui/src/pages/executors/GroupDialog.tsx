// Make a group, or change one.
import { Form, Input, Modal, Radio } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";
import { focusOn } from "../../parts/focus";
import { Refused } from "../../parts/Refused";

type Fields = { name: string; title?: string; address_type: "auto" | "manual"; addresses?: string };

export function GroupDialog({ group, onClose }: { group?: components["schemas"]["Group"]; onClose: () => void }) {
  const { t } = useTranslation("executors");
  const [form] = Form.useForm<Fields>();
  const kind: Fields["address_type"] | undefined = Form.useWatch("address_type", form);
  const save = useAct(
    async (given: Fields) => {
      const body = {
        title: given.title?.trim() === "" ? null : (given.title ?? null),
        address_type: given.address_type,
        address_list: (given.addresses ?? "").split(/\s+/).filter(Boolean),
      };
      if (group)
        await answer(client.PATCH("/api/v1/groups/{group_id}", { params: { path: { group_id: group.id } }, body }));
      else await answer(client.POST("/api/v1/groups", { body: { ...body, name: given.name.trim() } }));
    },
    { quiet: true, done: t("group.saved"), refresh: ["/api/v1/groups", "/api/v1/stats/overview"], then: onClose },
  );
  return (
    <Modal
      open
      title={group ? t("group.edit", { group: group.name }) : t("group.make")}
      okText={t("common:save")}
      confirmLoading={save.pending}
      onOk={() => form.submit()}
      onCancel={onClose}
      afterOpenChange={focusOn(group ? "title" : "name")}
    >
      <Refused refusal={save.refusal} />
      <Form<Fields>
        form={form}
        layout="vertical"
        initialValues={{
          name: group?.name,
          title: group?.title ?? "",
          address_type: group?.address_type ?? "auto",
          addresses: group?.address_list.join("\n"),
        }}
        onFinish={(given) => void save.run(given)}
      >
        {!group && (
          <Form.Item name="name" label={t("group.name")} rules={[{ required: true, message: t("group.nameNeeded") }]}>
            <Input maxLength={200} />
          </Form.Item>
        )}
        <Form.Item name="title" label={t("group.titleField")}>
          <Input maxLength={200} />
        </Form.Item>
        <Form.Item name="address_type" label={t("group.addresses")}>
          <Radio.Group
            options={[
              { value: "auto", label: t("group.auto") },
              { value: "manual", label: t("group.byHand") },
            ]}
          />
        </Form.Item>
        {kind === "manual" && (
          <Form.Item name="addresses" label={t("group.list")}>
            <Input.TextArea autoSize={{ minRows: 2, maxRows: 8 }} className="mono" />
          </Form.Item>
        )}
      </Form>
    </Modal>
  );
}
