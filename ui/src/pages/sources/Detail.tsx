// One data source: all that is known of it, and what worked on it of late.
import { Link } from "@tanstack/react-router";
import { Button, Drawer, Space } from "antd";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import { AuditedFold } from "../../parts/Audited";
import { Refused } from "../../parts/Refused";
import { Status } from "../../parts/Status";
import { Length, Time } from "../../parts/Time";
import { DIALECTS } from "../operations/kinds";
import { Result } from "./Result";
import type { Source } from "./saving";
import type { Tests } from "./testing";

type Props = {
  source: Source;
  tests: Tests;
  may: boolean;
  change: (next: Record<string, string | null>) => void;
  onClose: () => void;
};

export function Detail({ source, tests, may, change, onClose }: Props) {
  const { t } = useTranslation("sources");
  const outcome = tests.of(source.id);
  const options = Object.entries(source.options).map(([name, value]) => `${name}=${String(value)}`);
  const rows: [string, string | null][] = [
    [t("column.dialect"), DIALECTS[source.dialect]],
    [t("address"), source.url],
    [t("column.user"), source.username],
    [t("column.password"), source.has_password ? t("sealedLong") : t("common:none")],
    [t("options"), options.length > 0 ? options.join(", ") : null],
  ];
  return (
    <Drawer
      open
      size={520}
      title={source.name}
      onClose={onClose}
      extra={
        <Space>
          <Button loading={outcome.pending} onClick={() => void tests.run(source.id)}>
            {t("test")}
          </Button>
          {may && <Button onClick={() => change({ edit: String(source.id) })}>{t("common:edit")}</Button>}
          {may && (
            <Button danger onClick={() => change({ delete: String(source.id) })}>
              {t("common:delete")}
            </Button>
          )}
        </Space>
      }
    >
      <p>
        <Result outcome={outcome} />
      </p>
      <dl className="sources-facts">
        {rows
          .filter(([, value]) => value !== null)
          .flatMap(([name, value]) => [<dt key={`${name} name`}>{name}</dt>, <dd key={name}>{value}</dd>])}
        <dt>{t("added")}</dt>
        <dd>
          <Time at={source.created_at} /> · {source.created_by}
        </dd>
        <dt>{t("changed")}</dt>
        <dd>
          <Time at={source.updated_at} />
        </dd>
      </dl>
      <Working id={source.id} />
      <AuditedFold of={{ type: "data-source", id: source.id }} />
    </Drawer>
  );
}

function Working({ id }: { id: number }) {
  const { t } = useTranslation("sources");
  const found = useGet("/api/v1/instances", { query: { data_source_id: id, limit: 15 } }, { keep: true });
  const items = found.data?.items ?? [];
  return (
    <section aria-label={t("working")}>
      <h3 className="sources-heading">
        {t("working")}
        <Link to="/instances" search={{ data_source_id: String(id) } as never}>
          {t("allOfIt")}
        </Link>
      </h3>
      <Refused refusal={found.error} again={() => void found.refetch()} />
      {found.data && items.length === 0 && <p className="dim">{t("neverUsed")}</p>}
      <table className="rows">
        <tbody>
          {items.map((one) => (
            <tr key={one.id}>
              <td>
                <Link to="/instances/$id" params={{ id: String(one.id) }}>
                  {one.task_name} #{one.id}
                </Link>
                {one.end_time === null && one.phase !== null && <div className="dim">{one.phase}</div>}
              </td>
              <td>
                <Status status={one.status} skipped={one.skip_reason} />
              </td>
              <td className="rows-number">
                <Length from={one.start_time} to={one.end_time} />
                <div className="dim">
                  <Time at={one.end_time ?? one.start_time ?? one.scheduled_time} as="relative" />
                </div>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
