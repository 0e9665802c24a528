// What the server found wrong, beside the field it is about.
import type { FieldFault, Refusal } from "../api/refusal";
import { steps } from "./schema/values";

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

/** That a name is taken is refused as a conflict, without fields; to whoever fills in a form it is about the name. */
export function faultsIn(refusal: Refusal | null): readonly FieldFault[] {
  if (refusal?.status !== 409 || refusal.faults.length > 0) return refusal?.faults ?? [];
  const taken = /^an? [a-z ]+ named .+ exists already/su.test(refusal.message);
  return taken ? [{ field: "name", message: refusal.message }] : [];
}

/** The faults that still stand: what is wrong with a value is said only while it is the one that was sent. */
export function standing(faults: readonly FieldFault[], sent: unknown, now: unknown): FieldFault[] {
  return faults.filter(({ field }) => untouched(steps(field), sent, now));
}

function untouched(path: readonly string[], sent: unknown, now: unknown): boolean {
  const [first, ...rest] = path;
  // A path may name what is no key, such as the variant that was tried: then it is about what is around that.
  if (first === undefined || !isNest(sent) || (rest.length > 0 && !(first in sent)))
    return JSON.stringify(sent) === JSON.stringify(now);
  return untouched(rest, sent[first], isNest(now) ? now[first] : undefined);
}

function isNest(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
