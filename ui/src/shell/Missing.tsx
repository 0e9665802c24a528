import { Link } from "@tanstack/react-router";
import { Result } from "antd";
import { useTranslation } from "react-i18next";

export function Missing() {
  const { t } = useTranslation("shell");
  return (
    <Result
      status="404"
      title={t("missing.title")}
      subTitle={t("missing.detail")}
      extra={<Link to="/">{t("missing.home")}</Link>}
    />
  );
}
