// One group: what waits for it, who serves it, and what can be done with it.
import { DownOutlined } from "@ant-design/icons";
import { Link } from "@tanstack/react-router";
import { Button, Drawer, Dropdown, Modal, Typography } from "antd";
import { useState } from "react";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import type { components } from "../../api/schema";
import { quoted } from "../../parts/schema/command";
import { Audited } from "../../parts/Audited";
import { PauseDialog } from "../../parts/PauseDialog";
import { useMay } from "../../state/session";
import { Executor } from "./Executor";
import { GroupDialog } from "./GroupDialog";

type Props = {
  group: components["schemas"]["Group"];
  executors: readonly components["schemas"]["Executor"][];
  /** The executor that the address asks for, whose instances are shown at once. */
  opened: string | undefined;
  standing: components["schemas"]["GroupStanding"] | undefined;
};

export function Group({ group, executors, opened, standing }: Props) {
  const { t } = useTranslation("executors");
  const due = standing?.pending_due ?? 0;
  const alive = executors.filter((one) => one.alive).length;
  return (
    <section className="group panel-box" aria-label={t("group.label", { group: group.name })}>
      <header className="group-head">
        <h2>{group.name}</h2>
        {group.title && <span className="dim">{group.title}</span>}
        {group.address_type === "manual" && <span className="dim">{t("group.manual")}</span>}
        <span className="grow" />
        {standing && (
          <span className="group-figures">
            <Link to="/instances" search={{ group: group.name, status: "running" }}>
              {t("group.running", { count: standing.running, capacity: standing.capacity })}
            </Link>
            <Link to="/instances" search={{ group: group.name, status: "pending" }}>
              {t("group.due", { count: due })}
            </Link>
          </span>
        )}
        <Actions group={group} />
      </header>
      {alive === 0 && (
        <p className={due > 0 ? "tone-bad" : "dim"}>
          {due > 0 ? t("group.stuck", { count: due }) : t("group.nobody")}{" "}
          <code>hourhand executor --group {quoted(group.name)}</code>
        </p>
      )}
      {executors.length > 0 && (
        <div className="rows-scroll">
          <table className="rows executors cards">
            <thead>
              <tr>
                <th>{t("executor.executor")}</th>
                <th>{t("executor.slots")}</th>
                <th>{t("executor.heartbeat")}</th>
                <th>{t("executor.started")}</th>
                <th>{t("executor.version")}</th>
                <th>{t("executor.offers")}</th>
              </tr>
            </thead>
            <tbody>
              {executors.map((one) => (
                <Executor key={`${one.id} ${one.id === opened}`} executor={one} opened={one.id === opened} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  );
}

function Actions({ group }: { group: components["schemas"]["Group"] }) {
  const { t } = useTranslation("executors");
  const operator = useMay("operator");
  const admin = useMay("admin", { whole: true });
  const editor = useMay("editor");
  const [open, setOpen] = useState<"pause" | "edit" | "audited" | null>(null);
  const [modal, slot] = Modal.useModal();
  const path = { group_id: group.id };
  const remove = useAct(() => answer(client.DELETE("/api/v1/groups/{group_id}", { params: { path } })), {
    done: t("group.deleted", { group: group.name }),
    refresh: ["/api/v1/groups", "/api/v1/stats/overview"],
  });
  const token = useAct(() => answer(client.POST("/api/v1/groups/{group_id}/access-token", { params: { path } })), {
    then: (made) =>
      void modal.info({
        title: t("token.title", { group: group.name }),
        content: (
          <>
            <p>{t("token.once")}</p>
            <Typography.Text code copyable>
              {made.access_token}
            </Typography.Text>
          </>
        ),
      }),
  });
  if (!operator) return null;

  function ask(what: "delete" | "token") {
    void modal.confirm({
      title:
        what === "delete" ? t("group.deleteTitle", { group: group.name }) : t("token.askTitle", { group: group.name }),
      content: what === "delete" ? t("group.deleteDetail") : t("token.askDetail"),
      okText: what === "delete" ? t("common:delete") : t("token.make"),
      okButtonProps: { danger: true },
      onOk: () => (what === "delete" ? remove.run() : token.run()),
    });
  }

  return (
    <>
      {slot}
      <Dropdown
        trigger={["click"]}
        menu={{
          items: [
            { key: "pause", label: t("group.pause") },
            ...(editor ? [{ key: "audited", label: t("audit:one.title") }] : []),
            ...(admin
              ? [
                  { key: "edit", label: t("common:edit") },
                  { key: "token", label: t("token.make") },
                  { key: "delete", label: t("common:delete"), danger: true, disabled: group.name === "default" },
                ]
              : []),
          ],
          onClick: ({ key }) => {
            if (key === "pause" || key === "edit" || key === "audited") setOpen(key);
            if (key === "delete" || key === "token") ask(key);
          },
        }}
      >
        <Button size="small" aria-label={t("group.actions", { group: group.name })}>
          {t("common:more")} <DownOutlined />
        </Button>
      </Dropdown>
      <PauseDialog open={open === "pause"} onClose={() => setOpen(null)} scope="group" group={group.name} />
      <Drawer
        open={open === "audited"}
        size={560}
        destroyOnHidden
        title={t("group.audited", { group: group.name })}
        onClose={() => setOpen(null)}
      >
        <Audited of={{ type: "group", id: group.id }} />
      </Drawer>
      {open === "edit" && <GroupDialog group={group} onClose={() => setOpen(null)} />}
    </>
  );
}
