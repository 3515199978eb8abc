import { useQuery } from "@tanstack/react-query";
import { Link, Outlet, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";

import { linkToSession } from "./api/kinds";
import { holdsQuery, sessionsQuery } from "./api/queries";
import icon from "./icon.svg";
import { useEventStore } from "./live/event-store";
import { CommandProvider, useCommand, useCommandList } from "./ui/commands";
import { KeyHint } from "./ui/parts";
import { applyTheme, nextTheme, readTheme } from "./ui/theme";

const CommandPalette = lazy(() =>
  import("./ui/CommandDialogs").then((module) => ({ default: module.CommandPalette })),
);
const KeyHelp = lazy(() => import("./ui/CommandDialogs").then((module) => ({ default: module.KeyHelp })));

const PLACES = [
  { to: "/", label: "Home", shortcut: "g h" },
  { to: "/programs", label: "Programs", shortcut: "g p" },
  { to: "/calls", label: "Calls", shortcut: "g c" },
  { to: "/traces", label: "Traces", shortcut: "g t" },
  { to: "/agents", label: "Agents", shortcut: "g a" },
  { to: "/breakpoints", label: "Breakpoints", shortcut: "g b" },
  { to: "/events", label: "Events", shortcut: "g e" },
] as const;

/** What surrounds every view: the way to the others, and whether the page is live. */
export function Shell() {
  return (
    <CommandProvider>
      <div className="shell">
        <a className="skip-link" href="#content">
          Skip to the content
        </a>
        <TopBar />
        <main id="content" tabIndex={-1}>
          <Outlet />
        </main>
      </div>
    </CommandProvider>
  );
}

function TopBar() {
  const waiting = useQuery(holdsQuery).data?.total ?? 0;
  const [theme, setTheme] = useState(readTheme);
  const [dialog, setDialog] = useState<"palette" | "keys" | null>(null);
  const changeTheme = () => {
    const next = nextTheme(theme);
    applyTheme(next);
    setTheme(next);
  };
  useEffect(() => {
    document.title = waiting ? `(${waiting}) Holdfast` : "Holdfast";
  }, [waiting]);
  useCommand("Show all keys", "?", () => setDialog("keys"));
  useCommand("Open the command palette", "ctrl+k", () => setDialog("palette"));
  useCommand("Change the theme: system, dark, light", undefined, changeTheme);
  return (
    <header className="top-bar">
      <Link to="/" className="brand">
        <img src={icon} alt="" width={20} height={20} />
        Holdfast
      </Link>
      <nav aria-label="Main">
        {PLACES.map((place) => (
          <PlaceLink key={place.to} {...place} waiting={place.to === "/" ? waiting : 0} />
        ))}
      </nav>
      <ConnectionState />
      <button type="button" className="quiet" onClick={() => setDialog("palette")}>
        Commands <KeyHint of="ctrl+k" />
      </button>
      <button type="button" className="quiet" onClick={() => setDialog("keys")} aria-label="Show all keys">
        <kbd>?</kbd>
      </button>
      <button
        type="button"
        className="quiet"
        onClick={changeTheme}
        aria-label={`Theme: ${theme}. Change it.`}
      >
        {theme === "dark" ? "☾" : theme === "light" ? "☀" : "◐"}
      </button>
      <Suspense>{dialog ? <OpenDialog kind={dialog} onClose={() => setDialog(null)} /> : null}</Suspense>
    </header>
  );
}

interface PlaceLinkProps {
  to: (typeof PLACES)[number]["to"];
  label: string;
  shortcut: string;
  waiting: number;
}

function PlaceLink({ to, label, shortcut, waiting }: PlaceLinkProps) {
  const navigate = useNavigate();
  useCommand(`Go to ${label.toLowerCase()}`, shortcut, () => void navigate({ to }));
  return (
    <Link to={to} activeOptions={{ exact: to === "/" }} activeProps={{ "aria-current": "page" }}>
      {label}
      {waiting ? (
        <span className="count">
          {waiting}
          <span className="unseen"> waiting</span>
        </span>
      ) : null}
    </Link>
  );
}

function ConnectionState() {
  const { connected } = useEventStore();
  return (
    <span className="connection" role="status">
      <span className={connected ? "dot on" : "dot"} />
      {connected ? "live" : "reconnecting…"}
    </span>
  );
}

function OpenDialog({ kind, onClose }: { kind: "palette" | "keys"; onClose: () => void }) {
  const listCommands = useCommandList();
  const sessions = useQuery(sessionsQuery).data?.sessions ?? [];
  const navigate = useNavigate();
  if (kind === "keys") return <KeyHelp commands={listCommands()} onClose={onClose} />;
  const links = sessions.map((session) => ({
    id: session.session_id,
    label: session.name ?? session.session_id,
    detail: `${session.kind}, ${session.status}`,
    open: () => void navigate(linkToSession(session) as never),
  }));
  return <CommandPalette commands={listCommands()} links={links} onClose={onClose} />;
}
