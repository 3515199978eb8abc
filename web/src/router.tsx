import { createRootRoute, createRoute, createRouter, Link, lazyRouteComponent } from "@tanstack/react-router";

import { HomePage } from "./home/HomePage";
import { Shell } from "./Shell";
import { ProblemMessage } from "./ui/parts";

/** The addresses of the page. `server/page/page_addresses.py` lists the first parts of them. */

function NotFound() {
  return (
    <p className="empty">
      There is nothing at this address. <Link to="/">Go to the first page</Link>
    </p>
  );
}

/** A view that failed must not take the others with it. */
function FailedView({ error }: { error: unknown }) {
  return (
    <div className="empty">
      <ProblemMessage problem={error} />
      <p>
        This view failed. Reload it, or <Link to="/">go to the first page</Link>.
      </p>
    </div>
  );
}

const root = createRootRoute({ component: Shell, notFoundComponent: NotFound });
const at = <Path extends string>(path: Path, component: Parameters<typeof createRoute>[0]["component"]) =>
  createRoute({ getParentRoute: () => root, path, component: component as never });

const routeTree = root.addChildren([
  at("/", HomePage),
  at(
    "/programs",
    lazyRouteComponent(() => import("./programs/LaunchPage"), "LaunchPage"),
  ),
  at(
    "/programs/$id",
    lazyRouteComponent(() => import("./programs/ProgramPage"), "ProgramPage"),
  ),
  at(
    "/calls",
    lazyRouteComponent(() => import("./calls/CallsPage"), "CallsPage"),
  ),
  at(
    "/calls/$id",
    lazyRouteComponent(() => import("./calls/CallPage"), "CallPage"),
  ),
  at(
    "/breakpoints",
    lazyRouteComponent(() => import("./breakpoints/BreakpointsPage"), "BreakpointsPage"),
  ),
  at(
    "/holds/$id",
    lazyRouteComponent(() => import("./holds/HoldPage"), "HoldPage"),
  ),
  at(
    "/agents",
    lazyRouteComponent(() => import("./agents/AgentsPage"), "AgentsPage"),
  ),
  at(
    "/agents/compare",
    lazyRouteComponent(() => import("./agents/ComparePage"), "ComparePage"),
  ),
  at(
    "/agents/$id",
    lazyRouteComponent(() => import("./agents/AgentPage"), "AgentPage"),
  ),
  at(
    "/traces",
    lazyRouteComponent(() => import("./traces/TracesPage"), "TracesPage"),
  ),
  at(
    "/traces/$id",
    lazyRouteComponent(() => import("./traces/TracePage"), "TracePage"),
  ),
  at(
    "/traces/$id/calls/$key",
    lazyRouteComponent(() => import("./traces/TraceCallPage"), "TraceCallPage"),
  ),
  at(
    "/events",
    lazyRouteComponent(() => import("./events/EventsPage"), "EventsPage"),
  ),
]);

export const router = createRouter({
  routeTree,
  defaultPreload: "intent",
  defaultErrorComponent: FailedView,
  // Values of the address stay texts: a filter `1` is no number.
  parseSearch: (text) => Object.fromEntries(new URLSearchParams(text)),
  stringifySearch: (search) => {
    const text = new URLSearchParams(search as Record<string, string>).toString();
    return text ? `?${text}` : "";
  },
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
