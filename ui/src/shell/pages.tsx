// The pages as the navigation has them, in their order, with their shortcuts and who may see them.
import {
  AlertOutlined,
  ApartmentOutlined,
  AuditOutlined,
  BarsOutlined,
  CalendarOutlined,
  ClusterOutlined,
  DashboardOutlined,
  DatabaseOutlined,
  FieldTimeOutlined,
  PauseCircleOutlined,
  ScheduleOutlined,
  SettingOutlined,
  TeamOutlined,
  ToolOutlined,
} from "@ant-design/icons";
import type { ReactNode } from "react";

import type { Role } from "../state/session";

export type PageEntry = {
  path: string;
  /** Of the text `shell:pages.<name>`. */
  name: string;
  icon: ReactNode;
  /** Pressed after `g`. */
  key: string;
  least: Role;
  /** Not for who is limited to groups. */
  whole?: boolean;
};

export const PAGES: readonly PageEntry[] = [
  { path: "/", name: "overview", icon: <DashboardOutlined />, key: "o", least: "viewer" },
  { path: "/instances", name: "instances", icon: <BarsOutlined />, key: "i", least: "viewer" },
  { path: "/tasks", name: "tasks", icon: <ScheduleOutlined />, key: "t", least: "viewer" },
  { path: "/graph", name: "graph", icon: <ApartmentOutlined />, key: "g", least: "viewer" },
  { path: "/timeline", name: "timeline", icon: <FieldTimeOutlined />, key: "l", least: "viewer" },
  { path: "/calendar", name: "calendar", icon: <CalendarOutlined />, key: "c", least: "viewer" },
  { path: "/executors", name: "executors", icon: <ClusterOutlined />, key: "e", least: "viewer" },
  { path: "/pauses", name: "pauses", icon: <PauseCircleOutlined />, key: "p", least: "viewer" },
  { path: "/operations", name: "operations", icon: <ToolOutlined />, key: "x", least: "editor", whole: true },
  { path: "/data-sources", name: "sources", icon: <DatabaseOutlined />, key: "d", least: "editor", whole: true },
  { path: "/alerts", name: "alerts", icon: <AlertOutlined />, key: "a", least: "viewer", whole: true },
  { path: "/audit", name: "audit", icon: <AuditOutlined />, key: "u", least: "editor", whole: true },
  { path: "/access", name: "access", icon: <TeamOutlined />, key: "k", least: "admin", whole: true },
  { path: "/settings", name: "settings", icon: <SettingOutlined />, key: "s", least: "viewer" },
];
