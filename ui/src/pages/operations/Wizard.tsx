// One operation from its configuration to its end: configure, read what it would do, approve that, watch it.
import { Link } from "@tanstack/react-router";
import { Skeleton, Steps } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { Page } from "../../parts/Page";
import { Refused } from "../../parts/Refused";
import { Approve } from "./Approve";
import { Configure } from "./Configure";
import type { Kind } from "./kinds";
import { Live } from "./Live";
import { Previewed } from "./Previewed";
import { Undoing } from "./Undoing";
import { STEPS, usePlace, type Place } from "./wizard";
import { useKindWords } from "./words";
import "./operations.css";

export function WizardPage() {
  const { t } = useTranslation("operations");
  const place = usePlace();
  const kinds = useGet("/api/v1/kinds", {}, { every: false });
  const kind = kinds.data?.items.find((one) => one.role === "operation" && one.name === place.kind);
  if (kind) return <Known key={kind.name} kind={kind} place={place} />;
  return (
    <Page title={place.kind}>
      <Refused refusal={kinds.error} again={() => void kinds.refetch()} />
      {kinds.isLoading && <Skeleton active paragraph={{ rows: 6 }} />}
      {kinds.data && (
        <p>
          {t("unknownKind", { kind: place.kind })} <Link to="/operations">{t("allKinds")}</Link>
        </p>
      )}
    </Page>
  );
}

function Known({ kind, place }: { kind: Kind; place: Place }) {
  const { t } = useTranslation("operations");
  const { title, about } = useKindWords()(kind);
  /** Why the plan that was approved is another one by now. */
  const [changed, setChanged] = useState<readonly string[] | null>(null);
  const at = STEPS.indexOf(place.step);
  const taking = place.undo !== null && place.step !== "live";

  function back(number: number) {
    const step = STEPS[number];
    if (step === undefined || number >= at || place.text === null) return;
    place.go({ step, config: place.text, ...undoing(place) });
  }

  return (
    <Page
      title={title}
      about={
        <span className="operations-about">
          <Link to="/operations">{t("allKinds")}</Link>
          <span>{about}</span>
        </span>
      }
    >
      <Steps
        className="operations-steps"
        size="small"
        responsive={false}
        current={at}
        onChange={place.step === "live" ? undefined : back}
        items={STEPS.map((name, number) => ({
          title: t(`step.${name}`),
          disabled: place.step === "live" || number > at,
        }))}
      />
      {taking && (
        <p className="operations-undoing">
          {t("undoing", { id: place.undo })}{" "}
          <Link to="/instances/$id" params={{ id: String(place.undo) }}>
            #{place.undo}
          </Link>
        </p>
      )}
      {place.undo !== null && place.text === null && place.instance === null ? (
        <Undoing place={place} id={place.undo} />
      ) : place.step === "configure" ? (
        <Configure kind={kind} place={place} />
      ) : place.step === "preview" ? (
        <Previewed place={place} changed={changed} />
      ) : place.step === "approve" ? (
        <Approve place={place} onChanged={setChanged} />
      ) : (
        <Live id={place.instance ?? 0} place={place} />
      )}
    </Page>
  );
}

function undoing({ undo }: Place) {
  return undo === null ? {} : { undo: String(undo) };
}
