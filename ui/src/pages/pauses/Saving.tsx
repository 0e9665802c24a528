// A form in a dialog: what is refused is told above it, and it is closed by who has saved.
import { Form, Modal, type FormInstance } from "antd";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { Act } from "../../api/actions";
import { focusOn } from "../../parts/focus";
import { Refused } from "../../parts/Refused";

type Props<Fields> = {
  title: string;
  form: FormInstance<Fields>;
  first: Partial<Fields>;
  save: Act<[Fields], void>;
  onClose: () => void;
  children: ReactNode;
  beneath?: ReactNode;
};

export function Saving<Fields extends object>({ title, form, first, save, onClose, children, beneath }: Props<Fields>) {
  const { t } = useTranslation("common");
  return (
    <Modal
      open
      title={title}
      okText={t("save")}
      cancelText={t("cancel")}
      confirmLoading={save.pending}
      onOk={() => form.submit()}
      onCancel={onClose}
      afterOpenChange={focusOn("name")}
    >
      <Refused refusal={save.refusal} />
      <Form<Fields> form={form} layout="vertical" initialValues={first} onFinish={(fields) => void save.run(fields)}>
        {children}
      </Form>
      {beneath}
    </Modal>
  );
}
