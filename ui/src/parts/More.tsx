// The way to the next page of a list, while there is one.
import { Button } from "antd";
import { useTranslation } from "react-i18next";

import type { Paged } from "../api/paged";
import "./more.css";

type Props = { list: Pick<Paged<unknown>, "more" | "next" | "fetching">; words?: string };

export function More({ list, words }: Props) {
  const { t } = useTranslation("common");
  if (!list.more) return null;
  return (
    <div className="load-more">
      <Button onClick={list.next} loading={list.fetching}>
        {words ?? t("loadMore")}
      </Button>
    </div>
  );
}
