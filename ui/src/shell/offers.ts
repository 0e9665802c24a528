// Whatever the search can offer to whoever asks.
import { useRouterState } from "@tanstack/react-router";
import { useTranslation } from "react-i18next";

import { useAct } from "../api/actions";
import { useGet } from "../api/queries";
import { choose, useDark, usePreferences } from "../state/preferences";
import { signOut, useMay } from "../state/session";
import { useStore } from "../state/store";
import { instanceOf, matches, sections, type Offer, type Section } from "./found";
import { PAGES } from "./pages";
import { usePages } from "./reached";
import { recent } from "./recent";

type Acts = { pause: () => void; help: () => void };
const RECENT = 5;

export function useOffers(wanted: string, acts: Acts): Section[] {
  const { t } = useTranslation("shell");
  const some = wanted !== "";
  const tasks = useGet(
    "/api/v1/tasks",
    { query: { q: wanted, limit: 8 } },
    { enabled: some, every: false, keep: true },
  );
  const groups = useGet("/api/v1/groups", {}, { enabled: some, every: false });
  const fitting = (offers: Offer[]) => offers.filter((offer) => matches(offer, wanted));
  const number = instanceOf(wanted);

  const instances: Offer[] = [
    ...(number === null
      ? []
      : [{ key: "number", label: t("search.instance", { id: number }), go: { to: `/instances/${number}` } }]),
    ...(some
      ? [
          {
            key: "named",
            label: t("search.instances", { text: wanted }),
            go: { to: "/instances", search: { q: wanted } },
          },
        ]
      : []),
  ];
  const named: Offer[] = (some ? (tasks.data?.items ?? []) : []).map((task) => ({
    key: `task ${task.id}`,
    label: task.name,
    go: { to: `/tasks/${task.id}` },
  }));
  const grouped = (some ? (groups.data?.items ?? []) : []).map((group): Offer => ({
    key: `group ${group.id}`,
    label: group.name,
    also: group.title ?? "",
    go: { to: "/executors", search: { group: group.name } },
  }));
  const numbered = number === null ? [] : instances.slice(0, 1);
  return sections(
    { name: t("search.instanceSection"), offers: numbered },
    { name: t("search.taskSection"), offers: named },
    { name: t("search.groupSection"), offers: fitting(grouped) },
    { name: t("search.recentSection"), offers: fitting(useRecent()).slice(0, RECENT) },
    { name: t("search.pageSection"), offers: fitting(usePageOffers()) },
    { name: t("search.actSection"), offers: fitting(useActs(acts)) },
    { name: t("search.moreSection"), offers: instances.slice(numbered.length) },
  );
}

function useRecent(): Offer[] {
  const here = useRouterState({ select: (state) => state.location.pathname });
  const pages = new Set(PAGES.map((page) => page.path));
  return useStore(recent)
    .filter(({ path }) => path !== here && !pages.has(path)) // pages are offered anyway
    .map(({ path, title }) => ({ key: `recent ${path}`, label: title, go: { to: path } }));
}

function usePageOffers(): Offer[] {
  const { t } = useTranslation("shell");
  return usePages().map((page) => ({
    key: page.path,
    label: t(`pages.${page.name}`),
    hint: `g ${page.key}`,
    also: page.name,
    go: { to: page.path },
  }));
}

function useActs({ pause, help }: Acts): Offer[] {
  const { t } = useTranslation("shell");
  const { language } = usePreferences();
  const dark = useDark();
  const leave = useAct(signOut, { then: () => window.location.assign("/sign-in") });
  const mayPause = useMay("operator", { whole: true });
  const mayWrite = useMay("editor");
  const other = language === "zh" ? "en" : "zh";
  return [
    ...(mayWrite ? [{ key: "new", label: t("acts.newTask"), also: "new task", go: { to: "/tasks/new" } }] : []),
    ...(mayPause ? [{ key: "pause", label: t("acts.pauseAll"), also: "pause", go: pause }] : []),
    {
      key: "theme",
      label: dark ? t("acts.light") : t("acts.dark"),
      also: "theme",
      go: () => choose({ theme: dark ? "light" : "dark" }),
    },
    {
      key: "language",
      label: other === "zh" ? "切换到中文" : "Switch to English",
      also: "language 语言",
      go: () => choose({ language: other }),
    },
    { key: "keys", label: t("keys.title"), hint: "?", also: "shortcuts", go: help },
    { key: "out", label: t("signOut"), also: "sign out", go: () => void leave.run() },
  ];
}
