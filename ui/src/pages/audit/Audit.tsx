// Who changed what, newest first.
import { Button, Tag, type TableColumnsType } from "antd";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { usePaged, type Paged } from "../../api/paged";
import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { Listing } from "../../parts/Listing";
import { More } from "../../parts/More";
import { Page } from "../../parts/Page";
import { numberOf } from "../../parts/places";
import { Refused } from "../../parts/Refused";
import { Thing } from "../../parts/Thing";
import { Time } from "../../parts/Time";
import { useFilters } from "../../state/url";
import "./audit.css";
import { Chain } from "./Chain";
import { Entry } from "./Entry";
import { AuditFilters } from "./Filters";
import { goesOn, IN_VAIN, isShort, wantedOf } from "./things";

type AuditLog = components["schemas"]["AuditLog"];
const LIMIT = 50;

export function AuditPage() {
  const { t } = useTranslation("audit");
  const [filters, change] = useFilters();
  const wanted = wantedOf(filters);
  const found = usePaged("/api/v1/audit-logs", { ...wanted, limit: LIMIT });
  const { items, next } = found;
  const asked = JSON.stringify(wanted);
  const [further, setFurther] = useState({ asked, upTo: IN_VAIN });
  const upTo = further.asked === asked ? further.upTo : IN_VAIN;
  // Go on until a screen is full, but not for ever.
  const goOn = found.refusal === null && goesOn(found, LIMIT / 2, upTo);
  useEffect(() => {
    if (goOn) next();
  }, [goOn, next]);
  const stopped = isShort(found, LIMIT / 2) && found.pages >= upTo;

  const columns: TableColumnsType<AuditLog> = [
    { key: "at", title: t("when"), width: 190, render: (_, entry) => <Time at={entry.occurred_at} /> },
    {
      key: "who",
      title: t("who"),
      width: 180,
      ellipsis: true,
      render: (_, entry) => (
        <Button
          type="link"
          className="audit-inline"
          title={t("onlyWho", { id: entry.user_id })}
          onClick={() => change({ who: entry.user_id, entry: null })}
        >
          {entry.user_name || entry.user_id}
        </Button>
      ),
    },
    {
      key: "what",
      title: t("what"),
      width: 150,
      render: (_, entry) => (
        <Button type="link" className="audit-inline" onClick={() => change({ entry: String(entry.id) })}>
          {t(`action.${entry.action}`, { defaultValue: entry.action })}
        </Button>
      ),
    },
    { key: "thing", title: t("thing"), width: 200, ellipsis: true, render: (_, entry) => <Thing entry={entry} /> },
    {
      key: "summary",
      title: t("summary"),
      ellipsis: true,
      render: (_, entry) => entry.summary ?? <span className="dim">–</span>,
    },
    {
      key: "result",
      title: t("result.label"),
      width: 96,
      render: (_, entry) => (
        <Tag variant="filled" color={entry.result === "done" ? "default" : "red"}>
          {t(`result.${entry.result}`, { defaultValue: entry.result })}
        </Tag>
      ),
    },
  ];
  // Who follows a link may ask for one that is on none of the pages that were loaded.
  const entry = numberOf(filters.entry);
  const listed = items.find(({ id }) => id === entry);
  const fetched = useGet(
    "/api/v1/audit-logs/{entry_id}",
    { path: { entry_id: entry ?? 0 } },
    { enabled: entry !== null && !found.first && listed === undefined, every: false },
  );
  const open = listed ?? (entry === null ? undefined : fetched.data);

  return (
    <Page title={t("title")} about={t("about")} actions={<Chain />}>
      <AuditFilters seen={items} />
      <Refused refusal={fetched.error} close={() => change({ entry: null })} />
      <Listing
        list={found}
        columns={columns}
        width={940}
        named={false}
        none={found.more && !stopped ? t("looking") : t("none")}
        rowClassName={({ id }) => (id === entry ? "audit-open" : "")}
        foot={
          stopped ? (
            <Looked
              list={found}
              onFurther={() => {
                setFurther({ asked, upTo: found.pages + IN_VAIN });
                next();
              }}
            />
          ) : (
            <More list={found} words={t("further")} />
          )
        }
      />
      <Entry entry={open} onClose={() => change({ entry: null })} />
    </Page>
  );
}

/** How far back was looked in vain: up to the newest entry that was not looked at, whatever it is. */
function Looked({ list, onFurther }: { list: Paged<AuditLog>; onFurther: () => void }) {
  const { t } = useTranslation("audit");
  const beyond = useGet(
    "/api/v1/audit-logs",
    { query: { limit: 1, cursor: list.cursor } },
    { every: false, enabled: list.cursor !== null },
  );
  const at = beyond.data?.items[0]?.occurred_at;
  return (
    <p className="audit-looked" role="status">
      {at && (
        <>
          {t("lookedTo")} <Time at={at} />{" "}
        </>
      )}
      <Button onClick={onFurther} loading={list.fetching}>
        {t("lookFurther")}
      </Button>
    </p>
  );
}
