// Whether anybody meddled with the record: the server goes along the whole chain, and the answer is told in words.
import { SafetyCertificateOutlined } from "@ant-design/icons";
import { Alert, Button, Input, Modal, Typography } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";
import { Refused } from "../../parts/Refused";
import { Time } from "../../parts/Time";

type Verification = components["schemas"]["AuditVerification"];

export function Chain() {
  const { t } = useTranslation("audit");
  const [open, setOpen] = useState(false);
  const [head, setHead] = useState("");
  const [found, setFound] = useState<Verification | null>(null);
  const verify = useAct(
    (noted: string) =>
      answer(client.GET("/api/v1/audit-logs/verify", { params: { query: noted ? { head: noted } : {} } })),
    { quiet: true, then: setFound },
  );

  function begin() {
    setFound(null);
    setOpen(true);
    void verify.run("");
  }

  return (
    <>
      <Button icon={<SafetyCertificateOutlined />} onClick={begin}>
        {t("chain.verify")}
      </Button>
      <Modal
        open={open}
        onCancel={() => setOpen(false)}
        footer={<Button onClick={() => setOpen(false)}>{t("common:close")}</Button>}
        title={t("chain.title")}
        destroyOnHidden
      >
        <p className="dim">{t("chain.about")}</p>
        <Refused refusal={verify.refusal} />
        <div aria-live="polite" className="audit-chain">
          {verify.pending && <Alert type="info" title={t("chain.looking")} />}
          {!verify.pending && found && <Answer found={found} />}
        </div>
        <label htmlFor="audit-noted">{t("chain.noted")}</label>
        <Input.Search
          id="audit-noted"
          value={head}
          placeholder="17:9f86d0…"
          enterButton={t("chain.compare")}
          onChange={(event) => setHead(event.target.value)}
          onSearch={(text) => void verify.run(text.trim())}
        />
      </Modal>
    </>
  );
}

function Answer({ found }: { found: Verification }) {
  const { t } = useTranslation("audit");
  return (
    <>
      <Alert
        type={found.ok ? "success" : "error"}
        showIcon
        title={
          found.ok
            ? t("chain.whole", { count: found.checked, first: found.first })
            : t("chain.broken", { number: found.fault?.number })
        }
        description={
          found.fault && (
            <>
              <div>{t(`chain.fault.${found.fault.kind}`)}</div>
              <div className="dim">{found.fault.detail}</div>
              <div>{t("chain.fits", { count: found.checked })}</div>
            </>
          )
        }
      />
      {found.unsealed > 0 && (
        <p>
          {t("chain.unsealed", { count: found.unsealed })} <Time at={found.oldest_unsealed_at} />
        </p>
      )}
      <p>
        {t("chain.head")}{" "}
        <Typography.Text copyable className="mono audit-long">
          {found.head}
        </Typography.Text>
      </p>
    </>
  );
}
