// Tokens for programs: made, and shown once; revoked at once.
import { PlusOutlined } from "@ant-design/icons";
import { Button, Popconfirm, Switch, Tag, type TableColumnsType } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../../api/actions";
import { answer, client } from "../../api/client";
import { usePaged } from "../../api/paged";
import type { components } from "../../api/schema";
import { Listing } from "../../parts/Listing";
import { Time } from "../../parts/Time";
import { useMe } from "../../state/session";
import { useFilters } from "../../state/url";
import { useNow } from "../../time/now";
import { Limits } from "./Limits";
import { TokenForm } from "./TokenForm";

type Token = components["schemas"]["Token"];

export function Tokens() {
  const { t } = useTranslation("access");
  const me = useMe();
  const [filters, change] = useFilters();
  const now = useNow();
  const tokens = usePaged("/api/v1/tokens", { limit: 100 });
  const revoke = useAct(
    (token: Token) => answer(client.DELETE("/api/v1/tokens/{token_id}", { params: { path: { token_id: token.id } } })),
    { refresh: ["/api/v1/tokens", "/api/v1/sessions"], done: t("tokens.revoked") },
  );
  const ended = (token: Token) =>
    token.revoked_at !== null || (token.expires_at !== null && Date.parse(token.expires_at) <= now);
  const all = filters.all === "1";
  const columns: TableColumnsType<Token> = [
    {
      key: "name",
      title: t("tokens.for"),
      render: (_, token) => (
        <>
          <strong>{token.name}</strong> {me.id === `token:${token.id}` && <Tag variant="filled">{t("you")}</Tag>}
        </>
      ),
    },
    { key: "role", title: t("role"), width: 110, render: (_, token) => t(`common:role.${token.role}`) },
    { key: "groups", title: t("groups"), ellipsis: true, render: (_, token) => <Limits groups={token.groups} /> },
    {
      key: "made",
      title: t("made"),
      width: 260,
      ellipsis: true,
      render: (_, token) => (
        <>
          <Time at={token.created_at} seconds={false} /> {t("tokens.by", { name: token.created_by })}
        </>
      ),
    },
    {
      key: "expires",
      title: t("tokens.expires"),
      width: 200,
      render: (_, token) => {
        if (token.revoked_at !== null) {
          return (
            <>
              {t("tokens.isRevoked")} <Time at={token.revoked_at} as="relative" />
            </>
          );
        }
        return token.expires_at === null ? t("tokens.never") : <Time at={token.expires_at} seconds={false} />;
      },
    },
    {
      key: "acts",
      title: <span className="access-unseen">{t("acts")}</span>,
      width: 90,
      align: "right",
      render: (_, token) =>
        ended(token) ? null : (
          <Popconfirm
            title={t("tokens.revokeAsk", { name: token.name })}
            description={me.id === `token:${token.id}` ? t("tokens.revokeOwn") : t("tokens.revokeDetail")}
            okText={t("tokens.revoke")}
            okButtonProps={{ danger: true }}
            onConfirm={() => revoke.run(token)}
          >
            <Button size="small" danger>
              {t("tokens.revoke")}
            </Button>
          </Popconfirm>
        ),
    },
  ];
  return (
    <>
      <div className="access-bar">
        <span className="dim">{t("tokens.about")}</span>
        <label className="access-row">
          <Switch size="small" checked={all} onChange={(on) => change({ all: on ? "1" : null })} />
          {t("tokens.ended")}
        </label>
        <Button type="primary" icon={<PlusOutlined />} onClick={() => change({ token: "new" })}>
          {t("tokens.new")}
        </Button>
      </div>
      <Listing
        list={tokens}
        columns={columns}
        width={920}
        none={t("tokens.none")}
        rows={tokens.items.filter((token) => all || !ended(token))}
        rowClassName={(token) => (ended(token) ? "access-ended" : "")}
      />
      {filters.token === "new" && <TokenForm onClose={() => change({ token: null })} />}
    </>
  );
}
