// Lists: of short values side by side, of choices as tags, of anything larger as cards.
import { ArrowDownOutlined, ArrowUpOutlined, CloseOutlined, PlusOutlined } from "@ant-design/icons";
import { Button, Select } from "antd";
import { useTranslation } from "react-i18next";

import { Chips } from "./Chips";
import { Control } from "./Field";
import { described, Frame, useDrawing, type ControlProps } from "./frame";
import { labelOf, shapeOf, written, type Shape } from "./shape";
import { moved, own, seed, under } from "./values";

type Props = ControlProps<Extract<Shape, { is: "list" }>>;

export function ItemsControl(props: Props) {
  const { root, disabled } = useDrawing();
  const { id, shape, value, onChange, faults, required, label } = props;
  const item = shapeOf(shape.item, root);
  const items: unknown[] = Array.isArray(value) ? value : [];
  const give = (next: unknown[]) =>
    onChange(next.length === 0 && !required && shape.fallback === undefined ? undefined : next);
  if (item.is === "choice") {
    return (
      <Select
        id={id}
        mode="multiple"
        aria-label={label}
        disabled={disabled}
        placeholder={shape.fallback === undefined ? undefined : written(shape.fallback)}
        {...described(id, { help: shape.help !== null, bad: faults.length > 0, required })}
        value={items.map((one) => item.values.indexOf(one))}
        onChange={(next: number[]) => give(next.map((number) => item.values[number]))}
        options={item.values.map((one, number) => ({ value: number, label: written(one) }))}
      />
    );
  }
  if ((item.is === "text" && item.format !== "long") || item.is === "number") {
    return <Chips {...props} items={items} numbers={item.is === "number"} onChange={give} />;
  }
  return <Cards {...props} items={items} onChange={give} />;
}

function Cards({
  id,
  shape,
  items,
  onChange,
  faults,
  label,
}: Omit<Props, "onChange" | "value"> & { items: unknown[]; onChange: (items: unknown[]) => void }) {
  const { t } = useTranslation("form");
  const { root, disabled } = useDrawing();
  const item = shapeOf(shape.item, root);
  const one = labelOf(label, null);
  const full = shape.most !== null && items.length >= shape.most;
  return (
    <div className="schema-cards">
      {items.map((value, number) => {
        const mine = under(faults, String(number));
        const title = `${one} ${number + 1}`;
        const known = item.is === "record" ? item.entries.map((entry) => entry.name) : [];
        return (
          // Cards have no name but their place; what is typed lives in the value, so a place is enough.
          <div key={number} className="schema-card">
            <Frame
              id={`${id}.${number}`}
              label={title}
              faults={own(mine, known).map((fault) => fault.message)}
              group
              beside={
                <span className="schema-tools">
                  <Button
                    type="text"
                    size="small"
                    icon={<ArrowUpOutlined />}
                    disabled={disabled || number === 0}
                    aria-label={t("up", { what: title })}
                    onClick={() => onChange(moved(items, number, number - 1))}
                  />
                  <Button
                    type="text"
                    size="small"
                    icon={<ArrowDownOutlined />}
                    disabled={disabled || number === items.length - 1}
                    aria-label={t("down", { what: title })}
                    onClick={() => onChange(moved(items, number, number + 1))}
                  />
                  <Button
                    type="text"
                    size="small"
                    icon={<CloseOutlined />}
                    disabled={disabled}
                    aria-label={t("remove", { what: title })}
                    onClick={() => onChange(items.filter((_, at) => at !== number))}
                  />
                </span>
              }
            >
              <Control
                id={`${id}.${number}`}
                shape={{ ...item, help: null }}
                value={value}
                onChange={(next) => onChange(items.map((old, at) => (at === number ? (next ?? null) : old)))}
                faults={mine}
                required
                label={title}
              />
            </Frame>
          </div>
        );
      })}
      <Button
        type="dashed"
        icon={<PlusOutlined />}
        disabled={disabled || full}
        title={full ? t("full", { count: shape.most ?? 0 }) : undefined}
        onClick={() => onChange([...items, seed(shape.item, root) ?? (item.is === "text" ? "" : null)])}
      >
        {t("addTo", { what: one })}
      </Button>
    </div>
  );
}
