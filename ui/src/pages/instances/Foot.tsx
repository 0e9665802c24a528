// Beneath the list: how much of it there is, and whether it is still being looked for.
import { Button } from "antd";
import { useTranslation } from "react-i18next";

import { usePreferences } from "../../state/preferences";
import { useStore } from "../../state/store";
import { browserZone } from "../../time/format";
import { sizeOf } from "./feed";
import type { Feeding } from "./feeding";

export function Foot({ feeding }: { feeding: Feeding }) {
  const { t } = useTranslation("instances");
  const { clock } = usePreferences();
  const { feed, looking, searching, resting } = useStore(feeding.state);
  const count = feed === null ? 0 : sizeOf(feed);
  const zone = clock === "utc" ? "UTC" : clock === "task" ? t("foot.taskZone") : browserZone();
  return (
    <div className="instances-foot">
      {resting ? (
        <span>
          {t("foot.resting", { count })}{" "}
          <Button size="small" onClick={() => feeding.goOn()}>
            {t("foot.goOn")}
          </Button>
        </span>
      ) : (
        <span>
          {feed !== null &&
            t(feed.next === null ? "foot.all" : looking && searching ? "foot.looking" : "foot.some", { count })}
        </span>
      )}
      <span>{t("foot.zone", { zone })}</span>
    </div>
  );
}
