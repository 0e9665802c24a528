// What can be done with a data source.
import { DeleteOutlined, EditOutlined } from "@ant-design/icons";
import { Button, Tooltip } from "antd";
import { useTranslation } from "react-i18next";

import type { Source } from "./saving";
import type { Tests } from "./testing";

type Props = {
  source: Source;
  tests: Tests;
  change: (next: Record<string, string | null>) => void;
  may: boolean;
};

export function RowActions({ source: { id, name }, tests, change, may }: Props) {
  const { t } = useTranslation("sources");
  return (
    <span className="sources-actions">
      <Button size="small" loading={tests.of(id).pending} onClick={() => void tests.run(id)}>
        {t("test")}
      </Button>
      {may && (
        <>
          <Tooltip title={t("common:edit")}>
            <Button
              size="small"
              icon={<EditOutlined />}
              aria-label={t("editOne", { name })}
              onClick={() => change({ edit: String(id) })}
            />
          </Tooltip>
          <Tooltip title={t("common:delete")}>
            <Button
              size="small"
              icon={<DeleteOutlined />}
              aria-label={t("deleteOne", { name })}
              onClick={() => change({ delete: String(id) })}
            />
          </Tooltip>
        </>
      )}
    </span>
  );
}
