// Deleting: only what is known of the database goes, never the database; refused while somebody needs it.
import { Modal } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { Refused } from "../../parts/Refused";
import type { Source } from "./saving";

export function DeleteDialog({ source, onClose, onDone }: { source: Source; onClose: () => void; onDone: () => void }) {
  const { t } = useTranslation("sources");
  const remove = useAct(
    () => answer(client.DELETE("/api/v1/data-sources/{source_id}", { params: { path: { source_id: source.id } } })),
    { quiet: true, done: t("deleted", { name: source.name }), refresh: ["/api/v1/data-sources"], then: onDone },
  );
  return (
    <Modal
      open
      title={t("deleteTitle", { name: source.name })}
      okText={t("deleteIt")}
      cancelText={t("common:cancel")}
      okButtonProps={{ danger: true, loading: remove.pending }}
      onOk={() => void remove.run()}
      onCancel={onClose}
    >
      <p>{t("deleteAbout")}</p>
      <p className="mono sources-path">{source.url}</p>
      <Refused refusal={remove.refusal} />
    </Modal>
  );
}
