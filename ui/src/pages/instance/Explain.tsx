// "Why isn't it running?", answered before it is asked.
import { Link } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { useGet } from "../../api/queries";
import type { components } from "../../api/schema";
import { partsIn } from "../../time/format";
import { useZone } from "../../time/zone";
import { sentenceOf, thingsOf, type Thing } from "./sentence";

type Instance = components["schemas"]["Instance"];
const OFTEN = 5_000;

export function Explain({ instance, zone }: { instance: Instance; zone: string | null }) {
  const { t } = useTranslation("instance");
  const shown = useZone(zone);
  const ended = instance.end_time !== null;
  const found = useGet(
    "/api/v1/instances/{instance_id}/explain",
    { path: { instance_id: instance.id } },
    { every: ended ? false : OFTEN, keep: true },
  );
  // That its attempts failed is said by the message, which is larger; other reasons say more than it does.
  const reasons = (found.data?.reasons ?? []).filter(
    ({ code }) => code !== "failed" || instance.error_message === null,
  );
  // That it succeeded needs no reason; nor is one of before worth a word once it stands otherwise.
  if (instance.status === "success" || found.data?.status !== instance.status || reasons.length === 0) return null;
  const at = (instant: string) => {
    const parts = partsIn(new Date(instant), shown);
    return `${parts.date} ${parts.clock} ${parts.zone}`;
  };
  // It has started before: that it has not would be wrong.
  const again = reasons.some(({ code }) => code === "retry_backoff");
  const lead = instance.skip_reason ? "skipped" : instance.status;
  return (
    <section className={`instance-why instance-why-${lead}`} aria-label={t("why")}>
      {/* Told when it stands otherwise, not whenever a reason counts anew. */}
      <h2 aria-live="polite">{t(`lead.${again ? "retrying" : lead}`)}</h2>
      <ul>
        {reasons.map((reason, number) => {
          const { key, values } = sentenceOf(reason, at);
          return (
            <li key={`${reason.code} ${number}`} className={number === 0 ? "instance-why-first" : ""}>
              {t(`explain.${key}`, values)}
              {thingsOf(reason).map((thing) => (
                <Thingy key={`${thing.kind} ${thing.id}`} thing={thing} />
              ))}
            </li>
          );
        })}
      </ul>
    </section>
  );
}

function Thingy({ thing }: { thing: Thing }) {
  const { t } = useTranslation("instance");
  const label = t(`thing.${thing.kind}`, { name: thing.name });
  const className = "instance-thing";
  switch (thing.kind) {
    case "task":
      return (
        <Link className={className} to="/tasks/$id" params={{ id: thing.id }}>
          {label}
        </Link>
      );
    case "instance":
      return (
        <Link className={className} to="/instances/$id" params={{ id: thing.id }}>
          {label}
        </Link>
      );
    case "pause":
    case "window":
      return (
        <Link className={className} to="/pauses">
          {label}
        </Link>
      );
    default:
      return (
        <Link className={className} to="/executors" search={{ [thing.kind]: thing.id } as never}>
          {label}
        </Link>
      );
  }
}
