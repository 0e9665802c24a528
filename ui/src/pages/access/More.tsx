import { Button } from "antd";
import { useTranslation } from "react-i18next";

import type { Paged } from "../../api/paged";

export function More({ list }: { list: Paged<unknown> }) {
  const { t } = useTranslation("access");
  if (!list.more) return null;
  return (
    <div className="access-more">
      <Button onClick={list.next} loading={list.fetching}>
        {t("common:loadMore")}
      </Button>
    </div>
  );
}
