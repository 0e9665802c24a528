// Five figures, each a way to what it counts.
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { lengthOf } from "../../time/format";

type Overview = components["schemas"]["Overview"];

export function Figures({ overview }: { overview: Overview }) {
  const { t, i18n } = useTranslation("overview");
  const number = new Intl.NumberFormat(i18n.language);
  const percent = new Intl.NumberFormat(i18n.language, { style: "percent", maximumFractionDigits: 1 });
  const full = overview.capacity > 0 && overview.running >= overview.capacity;
  return (
    <ul className="figures">
      <Figure
        name={t("figures.failed")}
        value={number.format(overview.failed)}
        about={
          overview.failure_rate === null
            ? t("figures.nothingEnded")
            : t("figures.rate", {
                rate: percent.format(overview.failure_rate),
                succeeded: number.format(overview.success),
              })
        }
        to="/instances"
        search={{ status: "failed", from: "-24h" }}
        tone={overview.failed > 0 ? "bad" : undefined}
      />
      <Figure
        name={t("figures.due")}
        value={number.format(overview.pending_due)}
        about={t("figures.later", {
          later: number.format(overview.pending_later),
          planned: number.format(overview.planned),
        })}
        to="/instances"
        search={{ status: "pending" }}
        tone={overview.pending_due > 0 && (full || overview.executors === 0) ? "warn" : undefined}
      />
      <Figure
        name={t("figures.running")}
        value={number.format(overview.running)}
        about={
          overview.zombies > 0
            ? t("figures.zombies", { count: overview.zombies })
            : t("figures.room", { capacity: number.format(overview.capacity) })
        }
        to="/instances"
        search={{ status: "running" }}
        tone={overview.zombies > 0 ? "warn" : undefined}
      />
      <Figure
        name={t("figures.executors")}
        value={number.format(overview.executors)}
        about={overview.executors === 0 ? t("figures.nobody") : t("figures.alive")}
        to="/executors"
        tone={overview.executors === 0 ? "bad" : undefined}
      />
      <Figure
        name={t("figures.duration")}
        value={overview.p95_ms === null ? "–" : lengthOf(overview.p95_ms)}
        about={
          overview.p50_ms === null
            ? t("figures.nothingEnded")
            : t("figures.median", { median: lengthOf(overview.p50_ms) })
        }
        to="/timeline"
      />
    </ul>
  );
}

type Props = {
  name: string;
  value: ReactNode;
  about: string;
  to: string;
  search?: Record<string, string>;
  tone?: "bad" | "warn";
};

function Figure({ name, value, about, to, search, tone }: Props) {
  return (
    <li>
      <Link to={to} search={search ?? {}} className={`figure ${tone ? `figure-${tone}` : ""}`}>
        <span className="figure-name">{name}</span>
        <span className="figure-value number">{value}</span>
        <span className="figure-about">{about}</span>
      </Link>
    </li>
  );
}
