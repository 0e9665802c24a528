// What it was given and what it gave: arguments, checkpoint, result, summary, the end of its output.
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { Json } from "../../parts/Json";

type Instance = components["schemas"]["Instance"];

export function Values({ instance }: { instance: Instance }) {
  const { t } = useTranslation("instance");
  // What was given and where it would go on is short and asked for; the rest is long, or in the log as well.
  const values: [string, unknown, boolean][] = [
    [t("arguments"), instance.args, true],
    [t("checkpoint"), instance.checkpoint, true],
    [t("summary"), instance.summary, true],
    [t("result"), instance.result, instance.output_summary === null],
    [t("output"), instance.output_summary, false],
  ];
  return values
    .filter(([, value]) => value !== null && value !== undefined && value !== "")
    .map(([name, value, open]) => (
      <details key={name} className="instance-part" open={open}>
        <summary>{name}</summary>
        <Json value={value} label={name} />
      </details>
    ));
}
