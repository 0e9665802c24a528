// Sample tasks to look at, put in and taken out again.
import { Button, Popconfirm } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { useGet } from "../../api/queries";
import { Refused } from "../../parts/Refused";
import { Time } from "../../parts/Time";
import { useMay } from "../../state/session";

export function Demo() {
  const { t } = useTranslation("settings");
  const may = useMay("admin", { whole: true });
  const demo = useGet("/api/v1/demo");
  const load = useAct(() => answer(client.POST("/api/v1/demo")), {
    refresh: ["/api/v1"],
    done: (found) => t("demo.loaded", { count: found.tasks }),
  });
  const remove = useAct(() => answer(client.DELETE("/api/v1/demo")), {
    quiet: true,
    refresh: ["/api/v1"],
    done: (gone) => t("demo.removed", { count: gone.tasks }),
  });
  if (demo.data === undefined) return <Refused refusal={demo.error} again={() => void demo.refetch()} />;
  const { loaded, loaded_at, tasks, group } = demo.data;
  return (
    <>
      <p>
        {loaded ? t("demo.there", { count: tasks, group }) : t("demo.notThere")}{" "}
        {loaded && loaded_at !== null && <Time at={loaded_at} as="relative" />}
      </p>
      <Refused refusal={remove.refusal} />
      {may && !loaded && (
        <Button loading={load.pending} onClick={() => void load.run()}>
          {t("demo.load")}
        </Button>
      )}
      {may && loaded && (
        <Popconfirm
          title={t("demo.ask", { count: tasks })}
          description={t("demo.detail")}
          okText={t("demo.remove")}
          okButtonProps={{ danger: true }}
          onConfirm={() => void remove.run()}
        >
          <Button danger loading={remove.pending}>
            {t("demo.remove")}
          </Button>
        </Popconfirm>
      )}
      {!may && <p className="dim">{t("demo.admins")}</p>}
    </>
  );
}
