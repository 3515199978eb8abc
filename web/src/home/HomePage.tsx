import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { api, bodyOf } from "../api/client";
import { type Hold, linkToHold, linkToSession, type Session } from "../api/kinds";
import { holdsQuery, sessionsQuery } from "../api/queries";
import { EventList } from "../events/EventList";
import { useCommand } from "../ui/commands";
import { formatClock, formatCount, formatPlace } from "../ui/format";
import { EmptyState, KeyHint, Panel, ProblemMessage, Status } from "../ui/parts";
import "./home.css";

/** The first page: what waits for a decision, then all sessions and the latest events. */
export function HomePage() {
  return (
    <div className="home">
      <h1 className="unseen">Home</h1>
      <div className="column">
        <WaitingPanel />
        <SessionsPanel />
      </div>
      <div className="column">
        <EventList title="Latest events" />
      </div>
    </div>
  );
}

function WaitingPanel() {
  const client = useQueryClient();
  const { data, error } = useQuery(holdsQuery);
  const holds = data?.holds ?? [];
  const resumeAll = useMutation({
    mutationFn: () => bodyOf(api.POST("/api/holds/continue", { body: { by: "page" } })),
    onSettled: () => client.invalidateQueries({ queryKey: ["holds"] }),
  });
  const hasMany = holds.some((hold) => hold.kind !== "program");
  useCommand("Resume all held calls and agents", "r", () => resumeAll.mutate(), hasMany);
  const button = (
    <button type="button" onClick={() => resumeAll.mutate()}>
      Resume all <KeyHint of="r" />
    </button>
  );
  return (
    <Panel title="Waiting for you" aside={hasMany ? button : null}>
      <ProblemMessage problem={error ?? resumeAll.error} />
      {holds.length ? (
        <ul className="hold-list">
          {holds.map((hold) => (
            <HoldCard key={hold.hold_id} hold={hold} />
          ))}
        </ul>
      ) : (
        <EmptyState command="holdfast run main.py --break main.py:10">
          Nothing is held. A breakpoint holds a program, a call or an agent here until you decide.
        </EmptyState>
      )}
    </Panel>
  );
}

const KINDS = { program: "Program", calls: "Call in", agent: "Agent" };

function HoldCard({ hold }: { hold: Hold }) {
  const client = useQueryClient();
  const decision = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST("/api/holds/{hold_id}/decision", {
          params: { path: { hold_id: hold.hold_id } },
          body: { action: "continue", by: "page" },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["holds"] }),
  });
  return (
    <li className="hold">
      <div className="cut">
        <div className="hold-title cut" title={hold.title}>
          {hold.title}
        </div>
        <div className="soft cut">
          {KINDS[hold.kind]} {hold.session_name ?? hold.session_id} · {hold.reason} · since{" "}
          <time dateTime={hold.opened_at}>{formatClock(hold.opened_at).slice(0, 8)}</time>
        </div>
      </div>
      <div className="actions">
        <Link className="button" {...(linkToHold(hold) as { to: string })}>
          Open<span className="unseen"> {hold.title}</span>
        </Link>
        <button
          type="button"
          className="primary"
          disabled={decision.isPending}
          onClick={() => decision.mutate()}
        >
          Continue<span className="unseen"> {hold.title}</span>
        </button>
      </div>
      <ProblemMessage problem={decision.error} />
    </li>
  );
}

const ORDER = ["paused", "waiting_for_input", "running", "launching", "created", "failed", "terminated"];

function SessionsPanel() {
  const { data, error } = useQuery(sessionsQuery);
  const sessions = (data?.sessions ?? []).toSorted(
    (a, b) => ORDER.indexOf(a.status) - ORDER.indexOf(b.status) || b.created_at.localeCompare(a.created_at),
  );
  return (
    <Panel title="Sessions" className="fill" aside={formatCount(sessions.length)}>
      <ProblemMessage problem={error} />
      {sessions.length ? (
        <div className="fill" tabIndex={0} role="group" aria-label="List of sessions">
          <table className="table">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Where</th>
                <th scope="col" className="wide-only">
                  Kind
                </th>
                <th scope="col">Status</th>
              </tr>
            </thead>
            <tbody>
              {sessions.map((session) => (
                <SessionRow key={session.session_id} session={session} />
              ))}
            </tbody>
          </table>
        </div>
      ) : (
        <EmptyState command="holdfast demo">
          There are no sessions yet. Launch a program under <Link to="/programs">Programs</Link>, or watch the
          demo:
        </EmptyState>
      )}
    </Panel>
  );
}

function describePlace(session: Session): string {
  if (session.kind === "program") return formatPlace(session.location);
  if (session.kind === "calls") return `${formatCount(session.calls)} calls`;
  return `iteration ${session.iteration}${session.model ? `, ${session.model}` : ""}`;
}

function SessionRow({ session }: { session: Session }) {
  return (
    <tr>
      <td className="cut">
        <Link {...(linkToSession(session) as { to: string })}>{session.name ?? session.session_id}</Link>
      </td>
      <td className="cut mono soft">{describePlace(session)}</td>
      <td className="narrow soft wide-only">{session.kind}</td>
      <td className="narrow">
        <Status of={session.status} />
      </td>
    </tr>
  );
}
