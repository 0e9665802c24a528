// A fresh install: what to do first.
import { Link } from "@tanstack/react-router";
import { Alert, Button, Space } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { useMay } from "../../state/session";

export function First() {
  const { t } = useTranslation("overview");
  const editor = useMay("editor");
  const admin = useMay("admin", { whole: true });
  const load = useAct(() => answer(client.POST("/api/v1/demo")), { done: t("first.loaded"), refresh: ["/api/v1/"] });
  return (
    <Alert
      type="info"
      className="first"
      title={t("first.title")}
      description={
        <>
          <p>{editor ? t("first.detail") : t("first.viewer")}</p>
          <Space wrap>
            {editor && (
              <Link to="/tasks/new" className="ant-btn ant-btn-primary ant-btn-color-primary ant-btn-variant-solid">
                {t("first.make")}
              </Link>
            )}
            {admin && (
              <Button loading={load.pending} onClick={() => void load.run()}>
                {t("first.demo")}
              </Button>
            )}
          </Space>
        </>
      }
    />
  );
}
