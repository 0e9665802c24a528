// All shortcuts, on `?`.
import { Modal } from "antd";
import { useTranslation } from "react-i18next";

import { usePages } from "./reached";

export function Keys({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { t } = useTranslation("shell");
  const pages = usePages();
  const lists: [string, string][] = [
    ["j", t("keys.down")],
    ["k", t("keys.up")],
    ["Enter", t("keys.open")],
    ["x", t("keys.select")],
  ];
  const log: [string, string][] = [
    ["↑ ↓", t("keys.line")],
    ["Shift ↑ ↓", t("keys.lines")],
    ["Enter", t("keys.link")],
  ];
  const general: [string, string][] = [
    ["/", t("keys.search")],
    ["?", t("keys.help")],
    ["Esc", t("keys.close")],
  ];
  return (
    <Modal open={open} onCancel={onClose} footer={null} destroyOnHidden title={t("keys.title")} width={640}>
      <div className="keys">
        <Group name={t("keys.pages")} rows={pages.map((page) => [`g ${page.key}`, t(`pages.${page.name}`)])} />
        <div>
          <Group name={t("keys.everywhere")} rows={general} />
          <Group name={t("keys.lists")} rows={lists} />
          <Group name={t("keys.log")} rows={log} />
        </div>
      </div>
    </Modal>
  );
}

function Group({ name, rows }: { name: string; rows: [string, string][] }) {
  return (
    <section>
      <h2>{name}</h2>
      <dl>
        {rows.map(([keys, does]) => (
          <div key={keys}>
            <dt>
              {keys.split(" ").map((key, at) => (
                <kbd key={`${at}`}>{key}</kbd>
              ))}
            </dt>
            <dd>{does}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
