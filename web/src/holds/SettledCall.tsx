import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { api, bodyOf, type Schemas } from "../api/client";
import { linkToHold } from "../api/kinds";
import { holdsQuery } from "../api/queries";
import { CallDetail } from "../calls/CallDetail";
import { useCommand } from "../ui/commands";
import { formatPlace } from "../ui/format";
import { KeyHint } from "../ui/parts";

export interface Settlement {
  outcome: string;
  by: string | null;
}

/** How a hold was decided and by whom, and where to go from here. */
export function SettlementBanner({ settled, callId }: { settled: Settlement; callId: string | undefined }) {
  return (
    <div className="settled" role="status">
      <p>{describeSettlement(settled)}</p>
      <div className="actions">
        {callId ? (
          <Link className="button" to={"/calls/$id" as string} params={{ id: callId } as never}>
            See the call
          </Link>
        ) : null}
        <NextHold />
      </div>
    </div>
  );
}

function describeSettlement({ outcome, by }: Settlement): string {
  if (outcome === "withdrawn") return "Nobody decided it: its caller waits no longer.";
  const who = by === null ? "" : by === "page" ? " on this page" : ` by ${by}`;
  return `Decided: ${outcome}${who}.`;
}

/** The way to what waits next. */
function NextHold() {
  const next = useQuery(holdsQuery).data?.holds[0];
  if (!next) return <Link to="/">Nothing else waits</Link>;
  return <NextHoldLink hold={next} />;
}

function NextHoldLink({ hold }: { hold: Schemas["HoldList"]["holds"][number] }) {
  useCommand("Open what waits next", "n", () => document.getElementById("next-hold")?.click());
  return (
    <Link id="next-hold" className="button" {...(linkToHold(hold) as { to: string })}>
      Open the next: {hold.title ?? hold.reason} <KeyHint of="n" />
    </Link>
  );
}

/** A held call that was decided before this page was opened. */
export function SettledCall({ hold }: { hold: Schemas["SettledHold"] }) {
  const callId = useQuery(callOfHoldQuery(hold)).data;
  return (
    <div className="held-call">
      <h1>A decided call</h1>
      {hold.location ? <p className="soft">It was made at {formatPlace(hold.location)}.</p> : null}
      <SettlementBanner settled={hold} callId={callId ?? undefined} />
      {callId ? <CallDetail id={callId} /> : null}
    </div>
  );
}

/** Which call a settled hold was of: the events of its session know. */
const callOfHoldQuery = (hold: Schemas["SettledHold"]) => ({
  queryKey: ["call-of-hold", hold.hold_id],
  queryFn: async () => {
    const params = { path: { session_id: hold.session_id }, query: { types: "hold_opened", limit: 10_000 } };
    const { events } = await bodyOf(api.GET("/sessions/{session_id}/events", { params }));
    const opened = (events as Record<string, unknown>[]).find((event) => event.hold_id === hold.hold_id);
    return typeof opened?.call_id === "string" ? opened.call_id : null;
  },
});
