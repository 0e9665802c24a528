// What the server found wrong, beside the field it is about.
import type { Refusal } from "../api/refusal";

type Shown = { validateStatus?: "error"; help?: string };

/** Props of a form's item: "groups.0" is about the field "groups". */
export function faultOf(refusal: Refusal | null, field: string): Shown {
  const faults = (refusal?.faults ?? []).filter(
    (fault) => fault.field === field || fault.field.startsWith(`${field}.`),
  );
  if (faults.length === 0) return {};
  return { validateStatus: "error", help: faults.map((fault) => fault.message).join("; ") };
}

/** Whether something is wrong that no field shows. */
export function besides(refusal: Refusal | null, fields: readonly string[]): Refusal | null {
  if (refusal === null) return null;
  const shown = (field: string) => fields.some((name) => field === name || field.startsWith(`${name}.`));
  return refusal.faults.length > 0 && refusal.faults.every((fault) => shown(fault.field)) ? null : refusal;
}
