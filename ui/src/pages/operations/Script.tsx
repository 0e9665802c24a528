// Every statement that will be executed, as text to read, to copy and to keep.
import { CopyOutlined, DownloadOutlined } from "@ant-design/icons";
import { App, Button } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { Preview } from "./plan";

const FIRST_LINES = 30;

export function Script({ preview }: { preview: Preview }) {
  const { t } = useTranslation("operations");
  const { message } = App.useApp();
  const [whole, setWhole] = useState(false);
  const lines = preview.script.trimEnd().split("\n");
  const long = lines.length > FIRST_LINES;
  const shown = whole || !long ? lines : lines.slice(0, FIRST_LINES);

  function copy() {
    navigator.clipboard.writeText(preview.script).then(
      () => void message.success(t("common:copied")),
      () => void message.error(t("script.notCopied")),
    );
  }

  function download() {
    const address = URL.createObjectURL(new Blob([preview.script], { type: "application/sql" }));
    const link = document.createElement("a");
    link.href = address;
    link.download = `${preview.kind}-${preview.data_source}-${preview.plan_hash.slice(0, 8)}.sql`;
    link.click();
    URL.revokeObjectURL(address);
  }

  return (
    <section className="operations-panel" aria-label={t("script.title")}>
      <header>
        <h2>{t("script.title")}</h2>
        <span className="operations-buttons">
          <Button size="small" icon={<CopyOutlined />} onClick={copy}>
            {t("script.copy")}
          </Button>
          <Button size="small" icon={<DownloadOutlined />} onClick={download}>
            {t("script.download")}
          </Button>
        </span>
      </header>
      <pre className="operations-code" tabIndex={0} aria-label={t("script.title")}>
        {shown.join("\n")}
      </pre>
      {long && (
        <Button type="link" onClick={() => setWhole(!whole)}>
          {whole ? t("script.less") : t("script.all", { count: lines.length })}
        </Button>
      )}
    </section>
  );
}
