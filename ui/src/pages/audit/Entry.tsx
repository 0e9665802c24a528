// One entry: what it was before and after, the script, and where it stands in the chain.
import { Button, Descriptions, Drawer, Typography } from "antd";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { Diff } from "../../parts/Diff";
import { Json } from "../../parts/Json";
import { Thing } from "../../parts/Thing";
import { Time } from "../../parts/Time";
import { useFilters } from "../../state/url";

type AuditLog = components["schemas"]["AuditLog"];

export function Entry({ entry, onClose }: { entry: AuditLog | undefined; onClose: () => void }) {
  const { t } = useTranslation("audit");
  return (
    <Drawer
      open={entry !== undefined}
      onClose={onClose}
      size={720}
      destroyOnHidden
      title={entry && t("entry", { id: entry.id, action: t(`action.${entry.action}`, { defaultValue: entry.action }) })}
    >
      {entry && <Told entry={entry} />}
    </Drawer>
  );
}

function Told({ entry }: { entry: AuditLog }) {
  const { t } = useTranslation("audit");
  const [, change] = useFilters();
  const facts = [
    { key: "at", label: t("when"), children: <Time at={entry.occurred_at} /> },
    {
      key: "who",
      label: t("who"),
      children: (
        <span>
          {entry.user_name} <span className="dim mono">{entry.user_id}</span>
        </span>
      ),
    },
    {
      key: "thing",
      label: t("thing"),
      children: (
        <>
          <Thing entry={entry} />
          {entry.resource_id !== null && (
            <Button
              size="small"
              type="link"
              onClick={() =>
                change({ type: entry.resource_type, id: entry.resource_id, who: null, action: null, entry: null })
              }
            >
              {t("allOfIt")}
            </Button>
          )}
        </>
      ),
    },
    {
      key: "result",
      label: t("result.label"),
      children: t(`result.${entry.result}`, { defaultValue: entry.result }),
    },
    { key: "summary", label: t("summary"), children: entry.summary ?? "–" },
    {
      key: "request",
      label: t("request"),
      children: entry.request_id === null ? t("noRequest") : <Copied text={entry.request_id} />,
    },
    {
      key: "seal",
      label: t("seal"),
      children:
        entry.hash === null ? (
          t("unsealed")
        ) : (
          <span>
            {t("sealed", { number: entry.sealed_no })} <Copied text={entry.hash} />
          </span>
        ),
    },
  ];
  return (
    <div className="audit-entry">
      <Descriptions size="small" column={1} items={facts} />
      {(entry.before !== null || entry.after !== null) && (
        <section>
          <h2>{t("changes")}</h2>
          <Diff before={entry.before} after={entry.after} />
        </section>
      )}
      {entry.script !== null && (
        <section>
          <h2>{t("script")}</h2>
          <Json value={entry.script} label={t("script")} />
        </section>
      )}
      {entry.payload !== null && (
        <section>
          <h2>{t("payload")}</h2>
          <Json value={entry.payload} label={t("payload")} />
        </section>
      )}
    </div>
  );
}

function Copied({ text }: { text: string }) {
  return (
    <Typography.Text copyable className="mono audit-long">
      {text}
    </Typography.Text>
  );
}
