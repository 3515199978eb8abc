import { useQuery } from "@tanstack/react-query";
import { Navigate } from "@tanstack/react-router";
import { useState } from "react";

import { ServerProblem } from "../api/client";
import { linkToSession } from "../api/kinds";
import { holdQuery } from "../api/queries";
import "../calls/calls.css";
import { usePathParameter } from "../ui/address";
import { EmptyState, ProblemMessage } from "../ui/parts";
import { isHeldCall } from "./decision";
import { HeldCall } from "./HeldCall";
import "./holds.css";
import { SettledCall } from "./SettledCall";

/** A hold, by its id. Programs and agents are decided on the page of their session. */
export function HoldPage() {
  const id = usePathParameter("id");
  return <HoldView key={id} id={id} />;
}

function HoldView({ id }: { id: string }) {
  const { data: hold, error } = useQuery(holdQuery(id));
  // What one has edited stays in sight when somebody else was quicker.
  const [held, setHeld] = useState(isHeldCall(hold) ? hold : null);
  if (isHeldCall(hold) && hold !== held) setHeld(hold);
  if (error && !held) {
    return (
      <div className="held-call">
        <ProblemMessage problem={error} />
        <EmptyState command="holdfast holds">
          What waits now is on the first page, and on the command line:
        </EmptyState>
      </div>
    );
  }
  if (!hold) return <p className="empty">Reading the hold…</p>;
  if (hold.kind !== "calls") return <Navigate {...(linkToSession(hold) as { to: string })} replace />;
  // A server that was started again knows nothing of it: its caller waits no longer.
  const isGone = error instanceof ServerProblem && error.code === "HOLD_NOT_FOUND";
  const gone = isGone ? { outcome: "withdrawn", by: null } : null;
  const settled = "outcome" in hold ? { outcome: hold.outcome, by: hold.by } : gone;
  if (held) return <HeldCall hold={held} settled={settled} />;
  return "outcome" in hold ? <SettledCall hold={hold} /> : null;
}
