// A refusal on the page, with what to do about it.
import { Alert, Button } from "antd";
import { useTranslation } from "react-i18next";

import type { Refusal } from "../api/refusal";
import { useTold } from "./told";

type Props = {
  refusal: Refusal | null | undefined;
  again?: () => void;
  /** For what an address asks for and is not there: nobody needs to be told twice. */
  close?: () => void;
};

export function Refused({ refusal, again, close }: Props) {
  const { t } = useTranslation("common");
  const told = useTold();
  if (!refusal) return null;
  return (
    <Alert
      type={refusal.status === 409 || refusal.gone ? "warning" : "error"}
      showIcon
      role="alert"
      className="refused"
      title={told.title(refusal)}
      description={
        <>
          <div className="lines">{told.detail(refusal)}</div>
          {refusal.requestId && refusal.status >= 500 && (
            <div className="dim">{t("refusal.request", { id: refusal.requestId })}</div>
          )}
        </>
      }
      action={
        (again && <Button onClick={again}>{t("again")}</Button>) ??
        (close && <Button onClick={close}>{t("close")}</Button>)
      }
    />
  );
}
