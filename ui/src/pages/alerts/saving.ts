// Writing a rule. The document types its defaults as needed, so what is left out is said to be meant here.
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";

type Rule = components["schemas"]["AlertRuleOutput"];

export function edited(id: number, changes: Record<string, unknown>): Promise<Rule> {
  return answer(
    client.PATCH("/api/v1/alert-rules/{rule_id}", {
      params: { path: { rule_id: id } },
      body: changes,
    }),
  );
}

export function made(rule: Record<string, unknown>): Promise<Rule> {
  return answer(client.POST("/api/v1/alert-rules", { body: rule as components["schemas"]["NewAlertRule"] }));
}
