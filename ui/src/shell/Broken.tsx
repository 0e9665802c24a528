// What is shown when a page cannot be: the server is away, or the page has a fault of its own.
import { Button, Result } from "antd";
import { useTranslation } from "react-i18next";

import { Refusal } from "../api/refusal";
import { useTold } from "../parts/told";

export function Broken({ error }: { error: unknown }) {
  const { t } = useTranslation("shell");
  const told = useTold();
  const refusal = error instanceof Refusal ? error : null;
  return (
    <Result
      status={refusal ? "warning" : "error"}
      title={refusal ? told.title(refusal) : t("broken.title")}
      subTitle={refusal ? told.detail(refusal) : error instanceof Error ? error.message : t("broken.title")}
      extra={<Button onClick={() => window.location.reload()}>{t("common:again")}</Button>}
    />
  );
}
