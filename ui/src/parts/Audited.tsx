// What was done to one thing, and by whom: the audit, at the thing itself.
import { Link } from "@tanstack/react-router";
import { Collapse, Empty, Skeleton, Tag } from "antd";
import { useTranslation } from "react-i18next";

import { usePaged } from "../api/paged";
import type { components } from "../api/schema";
import { useMay } from "../state/session";
import "./audited.css";
import { allOf, askedOf, changedIn, isOther, newestFirst, type Audit } from "./auditing";
import { Diff } from "./Diff";
import { Json } from "./Json";
import { More } from "./More";
import { Refused } from "./Refused";
import { Thing, ThingWords } from "./Thing";
import { Time } from "./Time";

type AuditLog = components["schemas"]["AuditLog"];
type Props = { of: Audit; zone?: string | null };

const PATH = "/api/v1/audit-logs";
const INTERNAL = ["declared_hash", "version"];

/** A list; of what a caller may not see it says so. */
export function Audited({ of, zone }: Props) {
  const { t } = useTranslation("audit");
  const may = useMay("editor");
  if (!may) return <Empty image={Empty.PRESENTED_IMAGE_SIMPLE} description={t("one.hidden")} />;
  return <Entries key={`${of.type} ${of.id}`} of={of} zone={zone} />;
}

/** The list behind a line that opens it, for where there is little room; nothing for who may not see it. */
export function AuditedFold(props: Props) {
  const { t } = useTranslation("audit");
  if (!useMay("editor")) return null;
  // It asks for nothing before it is opened.
  const items = [{ key: "audited", label: t("one.title"), children: <Audited {...props} /> }];
  return <Collapse className="audited-fold" size="small" ghost items={items} />;
}

function Entries({ of, zone }: Props) {
  const { t } = useTranslation("audit");
  const whole = useMay("editor", { whole: true });
  const own = usePaged(PATH, { ...askedOf(of), limit: 50 });
  // An operation is kept under the number of its instance, and shown to who may see all of them.
  const started = usePaged(
    PATH,
    { resource_type: "operation", resource_id: String(of.id), limit: 50 },
    { enabled: of.type === "instance" && whole },
  );
  const items = newestFirst(own.items, started.items);
  if (own.first && !own.refusal) return <Skeleton active title={false} paragraph={{ rows: 3 }} />;
  return (
    <div className="audited">
      <Refused refusal={own.refusal ?? started.refusal} again={own.refusal ? own.again : started.again} />
      {items.length === 0 && !own.refusal && !own.more && <p className="dim">{t("one.none")}</p>}
      {items.length > 0 && (
        <Collapse
          size="small"
          items={items.map((entry) => ({
            key: entry.id,
            label: <Line entry={entry} of={of} zone={zone} />,
            children: <Told entry={entry} of={of} linked={whole} />,
          }))}
        />
      )}
      <More list={own} words={t("further")} />
      {whole && items.length > 0 && (
        <Link to="/audit" search={allOf(of) as never}>
          {t("allOfIt")}
        </Link>
      )}
    </div>
  );
}

function Line({ entry, of, zone }: Props & { entry: AuditLog }) {
  const { t } = useTranslation("audit");
  const changed = changedIn(entry, INTERNAL);
  return (
    <span className="audited-line">
      <Time at={entry.occurred_at} zone={zone} />
      <strong>{entry.user_name || entry.user_id}</strong>
      <span>{t(`action.${entry.action}`, { defaultValue: entry.action })}</span>
      {isOther(entry, of) && <ThingWords entry={entry} />}
      {entry.result !== "done" && (
        <Tag variant="filled" color="red">
          {t(`result.${entry.result}`, { defaultValue: entry.result })}
        </Tag>
      )}
      <span className="dim audited-changed">{changed.join(", ")}</span>
    </span>
  );
}

function Told({ entry, of, linked }: { entry: AuditLog; of: Audit; linked: boolean }) {
  const { t } = useTranslation("audit");
  return (
    <>
      {isOther(entry, of) && (
        <p>
          <Thing entry={entry} />
        </p>
      )}
      {entry.result !== "done" && entry.summary !== null && <p>{entry.summary}</p>}
      {entry.before !== null || entry.after !== null ? (
        <Diff before={entry.before} after={entry.after} without={INTERNAL} />
      ) : entry.payload === null ? (
        <p className="dim">{entry.result === "done" ? (entry.summary ?? t("one.noMore")) : t("one.noMore")}</p>
      ) : (
        <Json value={entry.payload} />
      )}
      {linked && (
        <Link to="/audit" search={{ entry: String(entry.id) } as never}>
          {t("one.entry", { id: entry.id })}
        </Link>
      )}
    </>
  );
}
