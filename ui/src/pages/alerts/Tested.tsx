// A test to each target, and what became of it.
import { CheckCircleFilled, CloseCircleFilled } from "@ant-design/icons";
import { Button, Modal } from "antd";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";
import { Refused } from "../../parts/Refused";

type Props = { rule: components["schemas"]["AlertRuleOutput"]; onClose: () => void };

export function Tested({ rule, onClose }: Props) {
  const { t } = useTranslation("alerts");
  const [found, setFound] = useState<components["schemas"]["Tested"] | null>(null);
  const test = useAct(
    () => answer(client.POST("/api/v1/alert-rules/{rule_id}/test", { params: { path: { rule_id: rule.id } } })),
    { quiet: true, then: setFound },
  );
  const { run } = test;
  useEffect(() => {
    // In another turn, so that what React mounts twice while developing is sent once.
    const soon = window.setTimeout(() => void run(), 0);
    return () => window.clearTimeout(soon);
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, []);
  return (
    <Modal
      open
      onCancel={onClose}
      title={t("test.title", { name: rule.name })}
      footer={
        <>
          <Button onClick={() => void test.run()} loading={test.pending}>
            {t("test.again")}
          </Button>
          <Button type="primary" onClick={onClose}>
            {t("common:close")}
          </Button>
        </>
      }
    >
      <Refused refusal={test.refusal} />
      <div aria-live="polite">
        {test.pending && <p className="dim">{t("test.sending", { count: rule.targets.length })}</p>}
        {found && (
          <ul className="alerts-tested">
            {found.targets.map((one) => (
              <li key={one.id} className={one.ok ? "alerts-arrived" : "alerts-lost"}>
                {one.ok ? <CheckCircleFilled /> : <CloseCircleFilled />}
                <div>
                  <div className="mono">{one.target}</div>
                  <div>{one.ok ? t("test.arrived") : t("test.lost", { error: one.error })}</div>
                </div>
              </li>
            ))}
          </ul>
        )}
      </div>
    </Modal>
  );
}
