// What its arguments look like, as a JSON Schema, beside the form that people will see who run it by hand.
import { Button } from "antd";
import { useMemo, useState } from "react";
import { useTranslation } from "react-i18next";

import { DrawingContext, Frame } from "../../parts/schema/frame";
import { JsonControl } from "../../parts/schema/JsonControl";
import { isRecord } from "../../parts/schema/shape";
import { SchemaForm } from "../../parts/SchemaForm";
import { useEditing, useFaults } from "./context";

const EXAMPLE = {
  type: "object",
  properties: {
    day: { type: "string", format: "date", title: "Day" },
    full: { type: "boolean", default: false, title: "Everything again" },
  },
  required: ["day"],
};

export function Args() {
  const { t } = useTranslation("editor");
  const { draft, set, broken } = useEditing();
  const faults = useFaults("args_schema");
  const [tried, setTried] = useState<unknown>({});
  const drawing = useMemo(() => ({ root: {}, disabled: false, broken }), [broken]);
  const schema = draft.args_schema;
  return (
    <div className="editor-args">
      <DrawingContext value={drawing}>
        <Frame
          id="editor-args_schema"
          label={t("fields.args_schema")}
          name="args_schema"
          faults={faults}
          help={t("help.args_schema")}
        >
          <JsonControl
            id="editor-args_schema"
            label={t("fields.args_schema")}
            value={schema ?? undefined}
            onChange={(next) => set({ args_schema: isRecord(next) ? next : null })}
            rows={8}
          />
        </Frame>
      </DrawingContext>
      <div className="editor-tried">
        <h3>{t("argsPreview")}</h3>
        {schema === null ? (
          <p className="dim">
            {t("argsNone")}{" "}
            <Button size="small" onClick={() => set({ args_schema: EXAMPLE })}>
              {t("argsExample")}
            </Button>
          </p>
        ) : (
          <SchemaForm label={t("argsPreview")} schema={schema} value={tried} onChange={setTried} />
        )}
      </div>
    </div>
  );
}
