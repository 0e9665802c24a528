// What to do with which data source: the form of the kind, and what is wrong with it at its fields.
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Alert, Button, Skeleton } from "antd";
import { useEffect, useRef, useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { useGet } from "../../api/queries";
import { standing } from "../../parts/faults";
import { Refused } from "../../parts/Refused";
import { isRecord } from "../../parts/schema/shape";
import { faultsUnder, SchemaForm } from "../../parts/SchemaForm";
import { exampleOf, firstOf, withExample, withSources, writeConfig, type Config } from "./config";
import { worded } from "./fields";
import { DIALECTS, type Kind } from "./kinds";
import { previewOf, type Place } from "./wizard";
import { useFieldWords } from "./words";

type Source = { name: string; dialect: keyof typeof DIALECTS };

export function Configure({ kind, place }: { kind: Kind; place: Place }) {
  const sources = useGet("/api/v1/data-sources", {}, { every: false });
  if (sources.error) return <Refused refusal={sources.error} again={() => void sources.refetch()} />;
  if (!sources.data) return <Skeleton active paragraph={{ rows: 6 }} />;
  return <Form kind={kind} place={place} sources={sources.data.items} />;
}

/** Typing changes the address when it stops, so that a reload or a link has what was typed. */
const TYPING = 400;

function Form({ kind, place, sources }: { kind: Kind; place: Place; sources: readonly Source[] }) {
  const { t } = useTranslation("operations");
  const queries = useQueryClient();
  const parameters = worded(kind.parameters, useFieldWords(kind.name));
  const names = sources.map(({ name }) => name);
  const [config, setConfig] = useState<Config>(() => place.config ?? firstOf(names));
  const [sent, setSent] = useState(config);
  const [broken, setBroken] = useState(false);
  const timer = useRef<number | undefined>(undefined);
  useEffect(() => () => window.clearTimeout(timer.current), []);
  const look = useAct(
    async (text: string) => {
      // Asked for anew: whoever comes back to the form may have changed the table meanwhile.
      await queries.query({ ...previewOf(kind.name, text), staleTime: 0 });
      return text;
    },
    { quiet: true, then: (text) => place.go({ step: "preview", config: text, ...undo }) },
  );
  const undo = place.undo === null ? {} : { undo: String(place.undo) };
  const refusal = look.refusal;
  const faults = refusal?.status === 422 ? faultsUnder(refusal.faults, "config") : [];
  const elsewhere = refusal !== null && faults.length < Math.max(1, refusal.faults.length);

  function change(next: unknown) {
    const value = isRecord(next) ? next : {};
    setConfig(value);
    window.clearTimeout(timer.current);
    timer.current = window.setTimeout(
      () => place.go({ config: writeConfig(value), ...undo }, { replace: true }),
      TYPING,
    );
  }

  function submit() {
    window.clearTimeout(timer.current);
    if (broken || look.pending) return;
    const text = writeConfig(config);
    // The entry to come back to has what was typed last.
    place.go({ config: text, ...undo }, { replace: true });
    setSent(config);
    void look.run(text);
  }

  const chosen = sources.find(({ name }) => name === config.data_source);
  const support = chosen ? kind.dialects?.[chosen.dialect] : undefined;
  const empty = Object.keys(config).every((name) => name === "data_source");
  return (
    <form
      className="operations-form"
      noValidate
      onSubmit={(event) => {
        event.preventDefault();
        submit();
      }}
    >
      {sources.length === 0 && (
        <div className="operations-first">
          <span>{t("noSources")}</span>
          <Link to="/data-sources" search={{ new: "1" } as never}>
            <Button type="primary">{t("addSource")}</Button>
          </Link>
        </div>
      )}
      <div className="operations-panel">
        <SchemaForm
          label={t("configuration")}
          schema={withSources(withExample(parameters, kind.example), names)}
          value={config}
          onChange={change}
          faults={standing(faults, sent, config)}
          onBroken={setBroken}
        />
      </div>
      {support && chosen && support.support !== "done" && (
        <Alert
          type={support.support === "script" ? "info" : "warning"}
          showIcon
          title={t(`supportOn.${support.support}`, { dialect: DIALECTS[chosen.dialect] })}
          description={support.reason}
        />
      )}
      {elsewhere && (
        <>
          <Refused refusal={refusal} />
          {refusal.status === 424 && <SourceHelp />}
        </>
      )}
      <div className="operations-buttons">
        <Button type="primary" htmlType="submit" loading={look.pending} disabled={broken}>
          {t("preview.look")}
        </Button>
        {empty && <Button onClick={() => change(exampleOf(kind.example, names))}>{t("fillExample")}</Button>}
        <span className="dim">{t("preview.changesNothing")}</span>
      </div>
    </form>
  );
}

/** What to do about a data source that does not answer. */
export function SourceHelp() {
  const { t } = useTranslation("operations");
  return (
    <p className="operations-help">
      {t("sourceHelp")} <Link to="/data-sources">{t("toSources")}</Link>
    </p>
  );
}
