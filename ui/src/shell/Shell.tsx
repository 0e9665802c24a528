// What every page is in: the navigation, the header, the stream of events, the shortcuts.
import { MenuOutlined } from "@ant-design/icons";
import { useQueryClient } from "@tanstack/react-query";
import { Link, Outlet, useRouteContext, useRouterState } from "@tanstack/react-router";
import { Button, Drawer, Layout, Menu } from "antd";
import { useEffect, useState } from "react";
import { useTranslation } from "react-i18next";

import { listen } from "../api/live";
import { useGoto } from "../parts/Goto";
import { Session } from "../state/session";
import { Header } from "./Header";
import { Keys } from "./Keys";
import { Logo } from "./Logo";
import { Palette } from "./Palette";
import { pagesOf, usePages } from "./reached";
import { useShortcuts } from "./shortcuts";

export function Shell() {
  const { me } = useRouteContext({ from: "/inside" });
  const queries = useQueryClient();
  const { t } = useTranslation("shell");
  const path = useRouterState({ select: (state) => state.location.pathname });
  const [drawer, setDrawer] = useState(false);
  const [palette, setPalette] = useState(false);
  useGoto();
  useEffect(() => listen(queries, me.groups !== null), [queries, me]);
  const [keys, setKeys] = useState(false);
  useShortcuts({ pages: pagesOf(me), search: () => setPalette(true), help: () => setKeys(true) });

  return (
    <Session value={me}>
      <a className="skip" href="#main">
        {t("skip")}
      </a>
      <Layout className="shell">
        <Layout.Sider width={196} breakpoint="lg" collapsedWidth={52} className="sider">
          <Logo />
          <nav aria-label={t("navigation")}>
            <Navigation path={path} />
          </nav>
        </Layout.Sider>
        <Layout>
          <Layout.Header className="header">
            <Button
              className="burger"
              type="text"
              icon={<MenuOutlined />}
              aria-label={t("navigation")}
              onClick={() => setDrawer(true)}
            />
            <Header onSearch={() => setPalette(true)} />
          </Layout.Header>
          <Layout.Content id="main" tabIndex={-1}>
            <Outlet />
          </Layout.Content>
        </Layout>
      </Layout>
      <Drawer open={drawer} onClose={() => setDrawer(false)} placement="left" size={240} title={<Logo />}>
        <Navigation path={path} onGone={() => setDrawer(false)} />
      </Drawer>
      <Palette open={palette} onClose={() => setPalette(false)} onHelp={() => setKeys(true)} />
      <Keys open={keys} onClose={() => setKeys(false)} />
    </Session>
  );
}

function Navigation({ path, onGone }: { path: string; onGone?: () => void }) {
  const { t } = useTranslation("shell");
  const seen = usePages();
  const here = [...seen].reverse().find((page) => path === page.path || path.startsWith(`${page.path}/`));
  return (
    <Menu
      mode="inline"
      selectedKeys={here ? [here.path] : []}
      items={seen.map((page) => ({
        key: page.path,
        icon: page.icon,
        label: (
          <Link to={page.path} onClick={onGone}>
            {t(`pages.${page.name}`)}
          </Link>
        ),
      }))}
    />
  );
}
