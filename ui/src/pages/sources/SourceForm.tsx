// Adding a data source, or changing one: by a URL or by its parts, and connected to before it is kept.
import { Checkbox, Form, Input, InputNumber, Modal, Segmented, Select } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { besides, faultOf } from "../../parts/faults";
import { focusOn } from "../../parts/focus";
import { Refused } from "../../parts/Refused";
import { isRecord } from "../../parts/schema/shape";
import { faultsUnder, SchemaForm } from "../../parts/SchemaForm";
import { DIALECTS } from "../operations/kinds";
import { asksAgain, editOf, first, newOf, optionsOf, PORTS, type Fields, type Source } from "./saving";

const NAMES = ["name", "url", "dialect", "host", "port", "database", "username", "password", "options"];

type Props = {
  source: Source | null;
  onClose: () => void;
  /** It was connected to, and kept: what it answered is worth showing. */
  onTested: (id: number) => void;
};

export function SourceForm({ source, onClose, onTested }: Props) {
  const { t } = useTranslation("sources");
  const [fields, setFields] = useState<Fields>(() => first(source));
  const [broken, setBroken] = useState(false);
  const set = (change: Partial<Fields>) => setFields((old) => ({ ...old, ...change }));
  const save = useAct(
    async () => {
      if (source === null) return await answer(client.POST("/api/v1/data-sources", { body: newOf(fields) }));
      const params = { path: { source_id: source.id } };
      return await answer(client.PATCH("/api/v1/data-sources/{source_id}", { params, body: editOf(source, fields) }));
    },
    {
      quiet: true,
      done: ({ name }) => (source === null ? t("isAdded", { name }) : t("isSaved", { name })),
      refresh: ["/api/v1/data-sources"],
      then: ({ id }) => {
        onClose();
        if (fields.test) onTested(id);
      },
    },
  );
  const refusal = save.refusal;
  const file = fields.dialect === "sqlite";
  const options = optionsOf(fields.dialect);
  const again = asksAgain(source, fields);
  const ready = fields.name.trim() !== "" && !broken && (fields.by === "fields" || fields.url.trim() !== "");
  const submit = () => {
    if (ready && !save.pending) void save.run();
  };
  return (
    <Modal
      open
      width={640}
      title={source === null ? t("add") : t("editTitle", { name: source.name })}
      okText={fields.test ? t("testAndSave") : t("common:save")}
      cancelText={t("common:cancel")}
      okButtonProps={{ loading: save.pending, disabled: !ready, htmlType: "submit", form: "source-form" }}
      onCancel={onClose}
      afterOpenChange={focusOn("source-name")}
    >
      <Form id="source-form" layout="vertical" onFinish={submit}>
        <Form.Item label={t("column.name")} htmlFor="source-name" extra={t("nameHelp")} {...faultOf(refusal, "name")}>
          <Input
            id="source-name"
            maxLength={128}
            value={fields.name}
            onChange={({ target }) => set({ name: target.value })}
          />
        </Form.Item>
        <Segmented
          className="sources-by"
          aria-label={t("by")}
          value={fields.by}
          onChange={(by) => set({ by: by === "url" ? "url" : "fields" })}
          options={[
            { value: "url", label: "URL" },
            { value: "fields", label: t("byFields") },
          ]}
        />
        {fields.by === "url" ? (
          <Form.Item label="URL" htmlFor="source-url" extra={t("urlHelp")} {...faultOf(refusal, "url")}>
            <Input
              id="source-url"
              className="mono"
              autoComplete="off"
              spellCheck={false}
              placeholder="postgresql://user:password@host:5432/database?sslmode=verify-full"
              value={fields.url}
              onChange={({ target }) => set({ url: target.value })}
            />
          </Form.Item>
        ) : (
          <>
            <div className="sources-grid">
              <Form.Item label={t("column.dialect")} htmlFor="source-dialect" {...faultOf(refusal, "dialect")}>
                <Select
                  id="source-dialect"
                  value={fields.dialect}
                  // Options of one database mean nothing to another.
                  onChange={(dialect) => set({ dialect, options: {} })}
                  options={Object.entries(DIALECTS).map(([value, label]) => ({
                    value: value as Fields["dialect"],
                    label,
                  }))}
                />
              </Form.Item>
              {!file && (
                <>
                  <Form.Item label={t("host")} htmlFor="source-host" {...faultOf(refusal, "host")}>
                    <Input
                      id="source-host"
                      value={fields.host}
                      onChange={({ target }) => set({ host: target.value })}
                    />
                  </Form.Item>
                  <Form.Item label={t("port")} htmlFor="source-port" {...faultOf(refusal, "port")}>
                    <InputNumber
                      id="source-port"
                      min={1}
                      max={65_535}
                      placeholder={String(PORTS[fields.dialect] ?? "")}
                      value={fields.port}
                      onChange={(port) => set({ port })}
                    />
                  </Form.Item>
                </>
              )}
            </div>
            <Form.Item
              label={file ? t("file") : t("column.database")}
              htmlFor="source-database"
              extra={file && t("fileHelp")}
              {...faultOf(refusal, "database")}
            >
              <Input
                id="source-database"
                value={fields.database}
                placeholder={file ? "/srv/shop/shop.db" : undefined}
                onChange={({ target }) => set({ database: target.value })}
              />
            </Form.Item>
            {!file && (
              <div className="sources-grid sources-two">
                <Form.Item label={t("column.user")} htmlFor="source-user" {...faultOf(refusal, "username")}>
                  <Input
                    id="source-user"
                    autoComplete="off"
                    value={fields.username}
                    onChange={({ target }) => set({ username: target.value })}
                  />
                </Form.Item>
                <Form.Item
                  label={t("column.password")}
                  htmlFor="source-password"
                  extra={again ? <span className="sources-bad">{t("passwordAgain")}</span> : t("passwordHelp")}
                  {...faultOf(refusal, "password")}
                >
                  <Input.Password
                    id="source-password"
                    autoComplete="new-password"
                    disabled={fields.forget}
                    placeholder={source?.has_password ? t("passwordKept") : undefined}
                    value={fields.password}
                    onChange={({ target }) => set({ password: target.value })}
                  />
                </Form.Item>
              </div>
            )}
            {source?.has_password && (
              <Form.Item>
                <Checkbox
                  checked={fields.forget}
                  onChange={({ target }) => set({ forget: target.checked, password: "" })}
                >
                  {t("passwordForget")}
                </Checkbox>
              </Form.Item>
            )}
            {options !== null && (
              <details className="sources-options" open={faultsUnder(refusal?.faults ?? [], "options").length > 0}>
                <summary>{t("optionsOf", { dialect: DIALECTS[fields.dialect] })}</summary>
                <SchemaForm
                  key={fields.dialect}
                  label={t("options")}
                  schema={options}
                  value={fields.options}
                  faults={faultsUnder(refusal?.faults ?? [], "options")}
                  onBroken={setBroken}
                  onChange={(next) => set({ options: isRecord(next) ? next : {} })}
                />
              </details>
            )}
          </>
        )}
        <Form.Item extra={t("testHelp")}>
          <Checkbox checked={fields.test} onChange={({ target }) => set({ test: target.checked })}>
            {t("testFirst")}
          </Checkbox>
        </Form.Item>
      </Form>
      <Refused refusal={besides(refusal, shownOf(fields.by))} />
    </Modal>
  );
}

/** Which faults have a field that shows them. */
function shownOf(by: Fields["by"]): string[] {
  return by === "url" ? ["name", "url"] : NAMES.filter((name) => name !== "url");
}
