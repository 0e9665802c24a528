// Above every page: the search, whether events come in, whose clock is shown, and who is signed in.
import {
  DesktopOutlined,
  LogoutOutlined,
  MoonOutlined,
  SearchOutlined,
  SunOutlined,
  UserOutlined,
} from "@ant-design/icons";
import { useNavigate } from "@tanstack/react-router";
import { Button, Dropdown, Select, Tooltip } from "antd";
import { useTranslation } from "react-i18next";

import { useAct } from "../api/actions";
import { connection } from "../api/live";
import { choose, usePreferences, type Clock } from "../state/preferences";
import { signOut, useMe } from "../state/session";
import { useStore } from "../state/store";
import { browserZone, partsIn } from "../time/format";
import { Standing } from "./Standing";

export function Header({ onSearch }: { onSearch: () => void }) {
  const { t } = useTranslation("shell");
  return (
    <div className="header-row">
      <Button className="search" icon={<SearchOutlined />} onClick={onSearch}>
        <span className="search-text">{t("search.placeholder")}</span>
        <kbd>/</kbd>
      </Button>
      <span className="grow" />
      <Standing />
      <Live />
      <Clocks />
      <User />
    </div>
  );
}

function Live() {
  const { t } = useTranslation("shell");
  const state = useStore(connection);
  return (
    <Tooltip title={t(`live.${state}Detail`)}>
      <span className={`live live-${state}`} role="status">
        {t(`live.${state}`)}
      </span>
    </Tooltip>
  );
}

function Clocks() {
  const { t } = useTranslation("shell");
  const { clock } = usePreferences();
  // Where there is no room it says what times end in, such as "GMT+1".
  const short = {
    browser: partsIn(new Date(), browserZone()).zone,
    utc: t("clock.utc"),
    task: t("clock.taskShort"),
  };
  return (
    <Select<Clock>
      className="clock"
      variant="borderless"
      value={clock}
      aria-label={t("clock.label")}
      popupMatchSelectWidth={false}
      onChange={(chosen) => choose({ clock: chosen })}
      labelRender={({ label }) => (
        <>
          <span className="clock-long">{label}</span>
          <span className="clock-short">{short[clock]}</span>
        </>
      )}
      options={[
        { value: "browser", label: t("clock.browser", { zone: browserZone() }) },
        { value: "utc", label: t("clock.utc") },
        { value: "task", label: t("clock.task") },
      ]}
    />
  );
}

function User() {
  const { t } = useTranslation("shell");
  const me = useMe();
  const navigate = useNavigate();
  const { theme, language } = usePreferences();
  const leave = useAct(signOut, { then: () => window.location.assign("/sign-in") });
  const mark = (chosen: boolean) => (chosen ? "chosen" : "");
  return (
    <Dropdown
      trigger={["click"]}
      menu={{
        items: [
          { key: "who", disabled: true, label: `${me.name} · ${t(`common:role.${me.role}`)}` },
          { type: "divider" },
          { key: "light", icon: <SunOutlined />, label: t("theme.light"), className: mark(theme === "light") },
          { key: "dark", icon: <MoonOutlined />, label: t("theme.dark"), className: mark(theme === "dark") },
          { key: "system", icon: <DesktopOutlined />, label: t("theme.system"), className: mark(theme === "system") },
          { type: "divider" },
          { key: "en", label: "English", className: mark(language === "en") },
          { key: "zh", label: "中文", className: mark(language === "zh") },
          { type: "divider" },
          { key: "settings", label: t("pages.settings") },
          { key: "out", icon: <LogoutOutlined />, label: t("signOut") },
        ],
        onClick: ({ key }) => {
          if (key === "light" || key === "dark" || key === "system") choose({ theme: key });
          if (key === "en" || key === "zh") choose({ language: key });
          if (key === "settings") void navigate({ to: "/settings" });
          if (key === "out") void leave.run();
        },
      }}
    >
      <Button type="text" icon={<UserOutlined />} aria-label={`${me.name}: ${t("user")}`}>
        <span className="user-name">{me.name}</span>
      </Button>
    </Dropdown>
  );
}
