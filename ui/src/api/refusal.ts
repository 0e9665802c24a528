// What the server refused, and why: RFC 9457 with a list of fields.
import type { components } from "./schema";

export type ProblemBody = components["schemas"]["Problem"];
export type FieldFault = { field: string; message: string };

export class Refusal extends Error {
  readonly status: number;
  readonly title: string;
  readonly faults: FieldFault[];
  readonly requestId: string | null;
  readonly body: Record<string, unknown>;

  private constructor(status: number, title: string, detail: string, body: Record<string, unknown>) {
    super(detail);
    this.name = "Refusal";
    this.status = status;
    this.title = title;
    this.body = body;
    this.faults = faultsOf(body);
    this.requestId = typeof body.request_id === "string" ? body.request_id : null;
  }

  static from(status: number, body: ProblemBody | string | undefined): Refusal {
    if (typeof body !== "object") return new Refusal(status, `HTTP ${status}`, body ?? `HTTP ${status}`, {});
    const known = body as unknown as Record<string, unknown>;
    const title = typeof known.title === "string" ? known.title : `HTTP ${status}`;
    const detail = typeof known.detail === "string" ? known.detail : title;
    return new Refusal(status, title, detail, known);
  }

  /** Status 0: nobody answered. */
  static unreachable(): Refusal {
    return new Refusal(0, "unreachable", "unreachable", {});
  }

  get gone(): boolean {
    return this.status === 404 || this.status === 410;
  }
}

function faultsOf(body: Record<string, unknown>): FieldFault[] {
  const errors = Array.isArray(body.errors) ? (body.errors as Record<string, unknown>[]) : [];
  return errors.map((one) => ({ field: text(one.field), message: text(one.message) }));
}

function text(value: unknown): string {
  return typeof value === "string" ? value : "";
}
