// What to run: the form of the runner's payload, and for an operation that of its kind.
import { Select, Skeleton } from "antd";
import { useCallback, useMemo } from "react";
import { useTranslation } from "react-i18next";

import type { components } from "../../api/schema";
import { Frame } from "../../parts/schema/frame";
import { isRecord, type JsonSchema } from "../../parts/schema/shape";
import { faultsUnder, SchemaForm } from "../../parts/SchemaForm";
import { Refused } from "../../parts/Refused";
import { useGet } from "../../api/queries";
import { useEditing } from "./context";
import { dress } from "./dress";

type Kind = components["schemas"]["Kind"];

export function useKinds() {
  return useGet("/api/v1/kinds", {}, { every: false });
}

export function Payload() {
  const { t, i18n } = useTranslation("editor");
  const { draft, set, faults, broken } = useEditing();
  const kinds = useKinds();
  const runner = kinds.data?.items.find((kind) => kind.role === "runner" && kind.name === draft.type);
  const operation = draft.type === "operation";
  const schema = useMemo(() => {
    const say = (key: string) => (i18n.exists(`editor:payload.${key}`) ? t(`payload.${key}`) : "");
    return dress(draft.type, runner?.parameters ?? {}, say);
  }, [draft.type, runner, t, i18n]);
  const tell = useCallback((is: boolean) => broken("payload", is), [broken]);
  if (kinds.isPending) return <Skeleton active paragraph={{ rows: 3 }} title={false} />;
  if (kinds.error) return <Refused refusal={kinds.error} again={() => void kinds.refetch()} />;
  const mine = faultsUnder(faults, "payload");
  if (operation) {
    return <Operation kinds={kinds.data.items.filter((kind) => kind.role === "operation")} faults={mine} tell={tell} />;
  }
  return (
    <SchemaForm
      key={draft.type}
      label={t("fields.payload")}
      schema={schema}
      value={draft.payload}
      onChange={(next) => set({ payload: isRecord(next) ? next : {} })}
      faults={mine}
      onBroken={tell}
      few={2}
    />
  );
}

type OperationProps = { kinds: readonly Kind[]; faults: ReturnType<typeof faultsUnder>; tell: (is: boolean) => void };
const NOTHING: JsonSchema = { type: "object" };

function Operation({ kinds, faults, tell }: OperationProps) {
  const { t } = useTranslation("editor");
  const { draft, set } = useEditing();
  const name = typeof draft.payload.kind === "string" ? draft.payload.kind : undefined;
  const kind = kinds.find((one) => one.name === name);
  const wrong = faults.filter(({ field }) => field === "kind" || field === "").map(({ message }) => message);
  return (
    <div className="editor-operation">
      <Frame id="editor-kind" label={t("kind")} name="kind" required faults={wrong} help={kind?.description}>
        <Select
          id="editor-kind"
          showSearch={{ optionFilterProp: "label" }}
          status={wrong.length > 0 ? "error" : undefined}
          placeholder={t("chooseKind")}
          value={name}
          onChange={(next: string) => set({ payload: { kind: next, config: {} } })}
          options={kinds.map((one) => ({ value: one.name, label: `${one.name} — ${one.title ?? one.description}` }))}
        />
      </Frame>
      {name !== undefined && (
        <SchemaForm
          key={name}
          label={t("config")}
          schema={kind?.parameters ?? NOTHING}
          value={draft.payload.config ?? {}}
          onChange={(next) => set({ payload: { ...draft.payload, config: isRecord(next) ? next : {} } })}
          faults={faultsUnder(faults, "config")}
          onBroken={tell}
        />
      )}
    </div>
  );
}
