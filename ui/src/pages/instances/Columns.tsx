// Which columns are shown: those that fit, until somebody chooses.
import { TableOutlined } from "@ant-design/icons";
import { Button, Checkbox, Popover } from "antd";
import { useTranslation } from "react-i18next";

import { useStore } from "../../state/store";
import { chooseColumns, chosenColumns, OPTIONAL } from "./columns";

export function Columns() {
  const { t } = useTranslation("instances");
  const chosen = useStore(chosenColumns);
  return (
    <Popover
      trigger="click"
      placement="bottomRight"
      content={
        <div className="instances-columns">
          <Checkbox.Group
            value={[...(chosen ?? [])]}
            onChange={(names) => chooseColumns(names.length === 0 ? null : names)}
            options={OPTIONAL.map(({ name, label }) => ({ value: name, label: t(label) }))}
          />
          <Button type="link" disabled={chosen === null} onClick={() => chooseColumns(null)}>
            {t("columns.fit")}
          </Button>
        </div>
      }
    >
      <Button
        className="instances-choose"
        icon={<TableOutlined />}
        aria-label={t("columns.label")}
        title={t("columns.label")}
      />
    </Popover>
  );
}
