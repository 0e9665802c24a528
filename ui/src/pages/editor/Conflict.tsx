// Somebody else saved meanwhile: what they have, what I have, and whose holds, field by field.
import { Button, Modal, Radio, Tag } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { clashes, draftOf, joined, same, type Draft, type FieldName, type Task } from "./draft";

type Props = {
  base: Draft;
  theirs: Task;
  mine: Draft;
  names: ReadonlyMap<number, string>;
  pending: boolean;
  onClose: () => void;
  onChosen: (chosen: Draft, theirs: Task) => void;
};

export function Conflict({ base, theirs, mine, names, pending, onClose, onChosen }: Props) {
  const { t } = useTranslation("editor");
  const now = draftOf(theirs);
  const rows = clashes(base, now, mine);
  // What I did not touch is theirs; what I did is mine until I say otherwise.
  const [kept, setKept] = useState<ReadonlySet<FieldName>>(
    () => new Set(rows.filter((row) => !same(row.base, row.mine)).map((row) => row.name)),
  );
  const written = (name: FieldName, value: unknown) =>
    name === "dependency_ids"
      ? (value as number[]).map((id) => names.get(id) ?? `#${id}`).join(", ") || "–"
      : typeof value === "string"
        ? value
        : value === null
          ? "–"
          : JSON.stringify(value, null, 1);
  return (
    <Modal
      open
      width={860}
      title={t("conflict.title", { by: theirs.updated_by, version: theirs.version })}
      onCancel={onClose}
      footer={[
        <Button key="back" onClick={onClose}>
          {t("conflict.back")}
        </Button>,
        <Button key="theirs" danger onClick={() => onChosen(now, theirs)}>
          {t("conflict.theirs")}
        </Button>,
        <Button
          key="save"
          type="primary"
          loading={pending}
          onClick={() => onChosen(joined(now, mine, [...kept]), theirs)}
        >
          {t("conflict.save", { version: theirs.version + 1 })}
        </Button>,
      ]}
    >
      <p className="dim">{t("conflict.detail")}</p>
      {rows.length === 0 && <p>{t("conflict.same")}</p>}
      <div className="editor-clashes">
        {rows.map((row) => {
          const label = t(`fields.${row.name}`);
          return (
            <Radio.Group
              key={row.name}
              className="editor-clash"
              aria-label={label}
              value={kept.has(row.name) ? "mine" : "theirs"}
              onChange={({ target }: { target: { value?: unknown } }) => {
                const next = new Set(kept);
                if (target.value === "mine") next.add(row.name);
                else next.delete(row.name);
                setKept(next);
              }}
            >
              <div className="editor-clash-name">
                {label} {row.both && <Tag color="gold">{t("conflict.both")}</Tag>}
              </div>
              <Radio value="theirs">
                {t("conflict.their")}
                <pre>{written(row.name, row.theirs)}</pre>
              </Radio>
              <Radio value="mine">
                {t("conflict.mine")}
                <pre>{written(row.name, row.mine)}</pre>
              </Radio>
            </Radio.Group>
          );
        })}
      </div>
    </Modal>
  );
}
