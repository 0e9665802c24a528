// What it would do now: whether it can, what it locks and costs, step by step, and the script as it is executed.
import { Link } from "@tanstack/react-router";
import { Alert, Button, Skeleton } from "antd";
import { useTranslation } from "react-i18next";

import { Refused } from "../../parts/Refused";
import { SourceHelp } from "./Configure";
import { Impact } from "./Impact";
import { hindrances, stepsOf, type Preview } from "./plan";
import { Preconditions } from "./Preconditions";
import { Script } from "./Script";
import { StepTable } from "./StepTable";
import { usePreview, type Place } from "./wizard";

type Props = { place: Place; changed: readonly string[] | null };

export function Previewed({ place, changed }: Props) {
  const { t } = useTranslation("operations");
  const found = usePreview(place);
  const undo = place.undo === null ? {} : { undo: String(place.undo) };
  const config = place.text ?? "";
  const change = () => place.go({ config, ...undo });
  const again = () => void found.refetch();
  if (found.error && found.data === undefined) {
    return (
      <>
        <Refused refusal={found.error} again={again} />
        {found.error.status === 424 && <SourceHelp />}
        <Button onClick={change}>{t("preview.change")}</Button>
      </>
    );
  }
  if (found.data === undefined) return <Skeleton active paragraph={{ rows: 8 }} />;
  const preview = found.data;
  const approve = () => place.go({ step: "approve", config, plan: preview.plan_hash, ...undo });
  return (
    <>
      {changed !== null && changed.length > 0 && (
        <Alert
          type="warning"
          showIcon
          role="alert"
          className="operations-alert"
          title={t("preview.changed")}
          description={<List items={changed} />}
        />
      )}
      <Refused refusal={found.error} />
      <Shown preview={preview} />
      <div className="operations-buttons operations-sticky">
        {!preview.script_only && (
          <Button type="primary" disabled={hindrances(preview).certain.length > 0} onClick={approve}>
            {t("preview.approve")}
          </Button>
        )}
        <Button onClick={change}>{t("preview.change")}</Button>
        <Button loading={found.isFetching} onClick={again}>
          {t("preview.again")}
        </Button>
        {!preview.script_only && (
          <Link
            to="/tasks/new"
            search={
              { type: "operation", payload: JSON.stringify({ kind: place.kind, config: place.config ?? {} }) } as never
            }
          >
            {t("preview.schedule")}
          </Link>
        )}
      </div>
    </>
  );
}

function Shown({ preview }: { preview: Preview }) {
  const { t } = useTranslation("operations");
  const steps = stepsOf(preview.statements);
  return (
    <>
      {preview.script_only && (
        <Alert type="info" showIcon className="operations-alert" title={t("preview.scriptOnly")} />
      )}
      {preview.config.dry_run === true && (
        <Alert type="info" showIcon className="operations-alert" title={t("preview.dryRun")} />
      )}
      <div className="operations-two">
        <Impact preview={preview} />
        <Preconditions preview={preview} />
      </div>
      {preview.notes.length > 0 && (
        <section className="operations-panel" aria-label={t("preview.notes")}>
          <h2>{t("preview.notes")}</h2>
          <List items={preview.notes} />
        </section>
      )}
      <StepTable steps={steps} />
      <Script preview={preview} />
    </>
  );
}

function List({ items }: { items: readonly string[] }) {
  return (
    <ul className="operations-list">
      {items.map((text) => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  );
}
