// Who did what to it, and to its instances.
import { Audited } from "../../parts/Audited";
import type { Task } from "./about";

export function AuditTab({ task }: { task: Task }) {
  return <Audited of={{ type: "task", id: task.id }} zone={task.timezone} />;
}
