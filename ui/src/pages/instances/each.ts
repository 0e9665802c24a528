// One request for each of the selected, a few at a time: one that is refused keeps no other from it.
import { answer, client } from "../../api/client";
import { Refusal } from "../../api/refusal";
import type { Instance } from "./feed";
import type { Action } from "./wanted";

export type Done = {
  matched: number;
  done: number;
  refused: readonly { id: number; message: string }[];
  more: boolean;
};

const AT_ONCE = 4;
const SHOWN = 20;

export async function eachOf(
  action: Action,
  rows: readonly Instance[],
  reason: string,
  changed: (rows: Instance[]) => void,
): Promise<Done> {
  const waiting = [...rows];
  const now: Instance[] = [];
  const refused: { id: number; message: string }[] = [];
  async function go() {
    for (let row = waiting.shift(); row !== undefined; row = waiting.shift()) {
      try {
        now.push(await act(action, row.id, reason));
      } catch (why) {
        if (!(why instanceof Refusal)) throw why;
        // Who cannot be reached now is not asked another thousand times.
        if (why.status === 0) waiting.length = 0;
        refused.push({ id: row.id, message: why.message });
      }
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, go));
  changed(now);
  return { matched: rows.length, done: now.length, refused: refused.slice(0, SHOWN), more: false };
}

function act(action: Action, id: number, reason: string): Promise<Instance> {
  const params = { path: { instance_id: id } };
  return action === "retry"
    ? answer(client.POST("/api/v1/instances/{instance_id}/retry", { params, body: { current_version: false } }))
    : answer(client.POST("/api/v1/instances/{instance_id}/cancel", { params, body: { reason } }));
}
