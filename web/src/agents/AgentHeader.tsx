import { Link } from "@tanstack/react-router";

import type { Schemas } from "../api/client";
import { useCommand } from "../ui/commands";
import { formatCount, formatDuration } from "../ui/format";
import { KeyHint, ProblemMessage, Status } from "../ui/parts";
import { type AgentSession, type Control, controlAgent, useAgentAction } from "./agent-queries";
import { formatCost } from "./ConversationRow";

interface AgentHeaderProps {
  session: AgentSession;
  totals: Schemas["ConversationTotals"] | undefined;
  /** The event that is shown; null is now. */
  at: number | null;
  onForkLast: (() => void) | null;
}

/** Which run this is, how it goes, and what one can do with all of it. */
export function AgentHeader({ session, totals, at, onForkLast }: AgentHeaderProps) {
  const id = session.session_id;
  const control = useAgentAction(id, (what: Control) => controlAgent(id, what));
  const isRunning = session.status === "running";
  const isHeld = session.status === "paused";
  const several = session.holds.length > 1;
  useCommand("Pause before the next model call", "F6", () => control.mutate("pause"), isRunning);
  useCommand("Resume everything that is held", "shift+F5", () => control.mutate("continue"), isHeld);
  useCommand("Fork from the last model call", "f", () => onForkLast?.(), onForkLast !== null);
  return (
    <header className="agent-head">
      <h1 className="cut">{session.name ?? id}</h1>
      <Status of={session.status} />
      <span className="soft">{describeTotals(session, totals)}</span>
      <Origin session={session} />
      <div className="actions agent-actions">
        {isRunning ? (
          <button type="button" disabled={control.isPending} onClick={() => control.mutate("pause")}>
            Pause <KeyHint of="F6" />
          </button>
        ) : null}
        {isHeld ? (
          <>
            <button type="button" disabled={control.isPending} onClick={() => control.mutate("continue")}>
              Resume{several ? " all" : ""}
            </button>
            {several ? (
              <button type="button" disabled={control.isPending} onClick={() => control.mutate("step-over")}>
                Step all
              </button>
            ) : null}
          </>
        ) : null}
        {onForkLast ? (
          <button type="button" onClick={onForkLast}>
            Fork
          </button>
        ) : null}
        <Link to="/agents" search={{ left: id } as never} className="button">
          Compare
        </Link>
      </div>
      {isRunning && isPending(control.data) ? (
        <p className="soft" role="status">
          It stops before its next model call.
        </p>
      ) : null}
      {at === null ? null : (
        <p className="past">
          This is the run as it was at event {at}.
          {isRunning || isHeld ? " Press Now to decide something." : ""}
        </p>
      )}
      <ProblemMessage problem={control.error} />
    </header>
  );
}

const isPending = (answer: unknown): boolean =>
  (answer as { pause_pending?: boolean } | undefined)?.pause_pending === true;

function describeTotals(session: AgentSession, totals: Schemas["ConversationTotals"] | undefined): string {
  const tokens = totals ? totals.input_tokens + totals.output_tokens : 0;
  return [
    session.model ?? "",
    `iteration ${totals?.iterations ?? session.iteration}`,
    tokens ? `${formatCount(tokens)} tokens` : "",
    totals?.cost === null || totals === undefined ? "" : `cost ${formatCost(totals.cost)}`,
    totals ? formatDuration(totals.duration_ms) : "",
    totals?.held_ms ? `held ${formatDuration(totals.held_ms)}` : "",
    totals?.failures ? `${totals.failures} failed` : "",
    session.status === "terminated" && session.reason ? `ended: ${session.reason}` : "",
  ]
    .filter(Boolean)
    .join(" · ");
}

/** The run that this one comes from. */
function Origin({ session }: { session: AgentSession }) {
  const { parent } = session;
  if (!parent) return null;
  const what =
    session.forkAt === undefined
      ? session.replayOf
        ? "replay of"
        : "started by"
      : `fork at ${session.forkAt} of`;
  return (
    <span className="soft cut">
      {what}{" "}
      <Link to="/agents/$id" params={{ id: parent } as never}>
        {parent}
      </Link>{" "}
      ·{" "}
      <Link to="/agents/compare" search={{ left: parent, right: session.session_id } as never}>
        compare
      </Link>
    </span>
  );
}
