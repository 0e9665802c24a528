// Every address of the UI. Pages are loaded when somebody goes there.
import type { QueryClient } from "@tanstack/react-query";
import {
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  Outlet,
  redirect,
} from "@tanstack/react-router";

import { whenOtherSession, whenSignedOut } from "./api/client";
import { Refusal } from "./api/refusal";
import { Broken } from "./shell/Broken";
import { Missing } from "./shell/Missing";
import { Shell } from "./shell/Shell";
import { whoAmI, type Me } from "./state/session";
import { readSearch, writeSearch } from "./state/url";

const root = createRootRouteWithContext<{ queries: QueryClient }>()({ component: Outlet, notFoundComponent: Missing });

const signIn = createRoute({
  getParentRoute: () => root,
  path: "/sign-in",
  component: lazyRouteComponent(() => import("./pages/access/SignIn"), "SignInPage"),
});

const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  component: Shell,
  errorComponent: Broken,
  notFoundComponent: Missing,
  beforeLoad: async ({ location, context }): Promise<{ me: Me }> => {
    try {
      const me = await context.queries.query({
        queryKey: ["me"],
        queryFn: whoAmI,
        staleTime: 60_000,
        gcTime: Infinity,
        retry: 1,
      });
      return { me };
    } catch (reason) {
      // A server that is away for a moment takes nobody's page away.
      const known = context.queries.getQueryData<Me>(["me"]);
      if (known !== undefined && !(reason instanceof Refusal && reason.status === 401)) return { me: known };
      if (!(reason instanceof Refusal) || reason.status !== 401) throw reason;
      throw redirect({ to: "/sign-in", search: { next: location.href } });
    }
  },
});

const page = <Path extends string>(path: Path, component: ReturnType<typeof lazyRouteComponent>) =>
  createRoute({ getParentRoute: () => inside, path, component });

const pages = [
  page(
    "/",
    lazyRouteComponent(() => import("./pages/overview/Overview"), "OverviewPage"),
  ),
  page(
    "/instances",
    lazyRouteComponent(() => import("./pages/instances/Instances"), "InstancesPage"),
  ),
  page(
    "/instances/$id",
    lazyRouteComponent(() => import("./pages/instance/Instance"), "InstancePage"),
  ),
  page(
    "/tasks",
    lazyRouteComponent(() => import("./pages/tasks/Tasks"), "TasksPage"),
  ),
  page(
    "/tasks/new",
    lazyRouteComponent(() => import("./pages/editor/Editor"), "NewTaskPage"),
  ),
  page(
    "/tasks/$id",
    lazyRouteComponent(() => import("./pages/task/Task"), "TaskPage"),
  ),
  page(
    "/tasks/$id/edit",
    lazyRouteComponent(() => import("./pages/editor/Editor"), "EditTaskPage"),
  ),
  page(
    "/graph",
    lazyRouteComponent(() => import("./pages/graph/Graph"), "GraphPage"),
  ),
  page(
    "/timeline",
    lazyRouteComponent(() => import("./pages/timeline/Timeline"), "TimelinePage"),
  ),
  page(
    "/calendar",
    lazyRouteComponent(() => import("./pages/calendar/Calendar"), "CalendarPage"),
  ),
  page(
    "/executors",
    lazyRouteComponent(() => import("./pages/executors/Executors"), "ExecutorsPage"),
  ),
  page(
    "/pauses",
    lazyRouteComponent(() => import("./pages/pauses/Pauses"), "PausesPage"),
  ),
  page(
    "/operations",
    lazyRouteComponent(() => import("./pages/operations/Operations"), "OperationsPage"),
  ),
  page(
    "/operations/$kind",
    lazyRouteComponent(() => import("./pages/operations/Wizard"), "WizardPage"),
  ),
  page(
    "/data-sources",
    lazyRouteComponent(() => import("./pages/sources/Sources"), "SourcesPage"),
  ),
  page(
    "/alerts",
    lazyRouteComponent(() => import("./pages/alerts/Alerts"), "AlertsPage"),
  ),
  page(
    "/audit",
    lazyRouteComponent(() => import("./pages/audit/Audit"), "AuditPage"),
  ),
  page(
    "/access",
    lazyRouteComponent(() => import("./pages/access/Access"), "AccessPage"),
  ),
  page(
    "/settings",
    lazyRouteComponent(() => import("./pages/settings/Settings"), "SettingsPage"),
  ),
];

export const router = createRouter({
  routeTree: root.addChildren([signIn, inside.addChildren(pages)]),
  context: { queries: undefined as unknown as QueryClient }, // given by the application
  parseSearch: readSearch,
  stringifySearch: writeSearch,
  defaultPreload: "intent",
  defaultPreloadStaleTime: 0,
  scrollRestoration: true,
});

whenSignedOut(() => {
  if (router.state.location.pathname === "/sign-in") return;
  router.options.context.queries.removeQueries({ queryKey: ["me"] });
  void router.navigate({ to: "/sign-in", search: { next: router.state.location.href } });
});

whenOtherSession(() => {
  // Name, role and groups may be others now. The page stays, with what is typed on it.
  void router.options.context.queries.invalidateQueries({ queryKey: ["me"] }).then(() => router.invalidate());
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
