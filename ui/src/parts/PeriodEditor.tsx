// From when to when: the usual lengths with one click, or two times by the clock that is shown.
import { Button, Input } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import type { Filters } from "../state/url";
import { useZone } from "../time/zone";
import { instantAt, instantOf, QUICK, wallOf } from "./period";

type Props = { values: Filters; onGive: (change: Record<string, string | null>) => void };

export function PeriodEditor({ values, onGive }: Props) {
  const { t } = useTranslation("filters");
  const zone = useZone();
  const [opened] = useState(Date.now);
  const [from, setFrom] = useState(wallOf(instantOf(values.from, opened), zone));
  const [to, setTo] = useState(wallOf(instantOf(values.to, opened), zone));
  return (
    <form
      className="filterbar-period"
      onSubmit={(event) => {
        event.preventDefault();
        onGive({ from: instantAt(from, zone) ?? null, to: instantAt(to, zone) ?? null });
      }}
    >
      <div className="filterbar-quick">
        {QUICK.map((length, number) => (
          <Button
            key={length}
            autoFocus={number === 0}
            type={values.from === length && !values.to ? "primary" : "default"}
            onClick={() => onGive({ from: length, to: null })}
          >
            {t("last", { length: length.slice(1) })}
          </Button>
        ))}
      </div>
      <label>
        {t("from", { zone })}
        <Input type="datetime-local" step={1} value={from} onChange={(event) => setFrom(event.target.value)} />
      </label>
      <label>
        {t("to", { zone })}
        <Input type="datetime-local" step={1} value={to} onChange={(event) => setTo(event.target.value)} />
      </label>
      <Button type="primary" htmlType="submit" disabled={!from && !to}>
        {t("apply")}
      </Button>
    </form>
  );
}
