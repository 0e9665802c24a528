// Which Hourhand this is, and where more is to be read.
import { Descriptions } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";

export function About() {
  const { t } = useTranslation("settings");
  const version = useGet("/api/v1/version", {}, { every: false });
  return (
    <Descriptions
      size="small"
      column={1}
      items={[
        { key: "version", label: t("about.version"), children: version.data?.version ?? "–" },
        { key: "server", label: t("about.server"), children: window.location.origin },
        { key: "docs", label: t("about.rest"), children: <a href="/docs">{t("about.docs")}</a> },
        { key: "openapi", label: t("about.document"), children: <a href="/api/v1/openapi.json">openapi.json</a> },
        { key: "keys", label: t("about.keys"), children: <kbd>?</kbd> },
      ]}
    />
  );
}
