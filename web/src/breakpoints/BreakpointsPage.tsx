import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { api, bodyOf, type Schemas } from "../api/client";
import { useCallChanges } from "../calls/call-changes";
import { InlineHelp } from "../calls/InlineHelp";
import "../calls/calls.css";
import { useAddressValue } from "../ui/address";
import { formatCount } from "../ui/format";
import { EmptyState, Panel, ProblemMessage } from "../ui/parts";
import { BreakpointForm } from "./BreakpointForm";
import { BreakpointItem } from "./BreakpointItem";
import { callBreakpointsQuery } from "./breakpoint-queries";
import "./breakpoints.css";

const CODE = `from holdfast import with_debug

with_debug("ON")
shop = with_debug(Shop())  # its calls can be held now`;

/** The breakpoints of calls: made, changed and removed here. They outlive the server. */
export function BreakpointsPage() {
  const client = useQueryClient();
  const [edited, setEdited] = useAddressValue("edit");
  const { data, error } = useQuery(callBreakpointsQuery);
  const points = data?.breakpoints ?? [];
  const refresh = () => void client.invalidateQueries({ queryKey: ["breakpoints"] });
  const cleared = useMutation({
    mutationFn: () => bodyOf(api.DELETE("/api/breakpoints", { params: { query: { by: "page" } } })),
    onSettled: refresh,
  });
  const removed = useMutation({
    mutationFn: (id: string) =>
      bodyOf(
        api.DELETE("/api/breakpoints/{breakpoint_id}", {
          params: { path: { breakpoint_id: id }, query: { by: "page" } },
        }),
      ),
    onSettled: refresh,
  });
  useCallChanges(refresh); // they count what they match
  const clear = (
    <button type="button" className="danger" onClick={() => cleared.mutate()}>
      Clear all
    </button>
  );
  const editedPoint = points.find((point) => point.id === edited);
  return (
    <div className="breakpoints-view">
      <h1>Breakpoints of calls</h1>
      <p className="soft">
        A call that matches waits here until somebody decides. Breakpoints of programs are set beside their
        source, those of agents on their page. <InlineHelp />
      </p>
      <Panel
        title={editedPoint ? "Change the breakpoint" : "New breakpoint"}
        aside={editedPoint ? <code>{editedPoint.id}</code> : null}
      >
        {edited && !data ? (
          <p className="empty">Reading the breakpoint…</p>
        ) : (
          <BreakpointForm
            key={editedPoint?.id ?? "new"}
            {...(editedPoint ? { point: editedPoint } : {})}
            onDone={() => {
              setEdited("");
              refresh();
            }}
          />
        )}
      </Panel>
      <Panel
        title="Breakpoints"
        aside={
          <>
            {formatCount(points.length)} {points.length ? clear : null}
          </>
        }
      >
        <ProblemMessage problem={error ?? cleared.error ?? removed.error} />
        <StillHeld answer={removed.data ?? cleared.data} />
        {points.length ? (
          <ul className="breakpoint-list">
            {points.map((point) => (
              <BreakpointItem
                key={point.id}
                point={point}
                isEdited={point.id === edited}
                onEdit={() => setEdited(point.id, { push: true })}
                onRemove={() => removed.mutate(point.id)}
              />
            ))}
          </ul>
        ) : data ? (
          <EmptyState command="holdfast calls break 'Shop.*'">
            <p>No call is held yet. Let an application wrap an object, and name its function above:</p>
            <pre className="example">{CODE}</pre>
            <p>The same on the command line:</p>
          </EmptyState>
        ) : null}
      </Panel>
    </div>
  );
}

type Removal = Schemas["RemovedCallBreakpoint"] | Schemas["ClearedCallBreakpoints"];

/** A removed breakpoint lets go of nothing by itself. */
function StillHeld({ answer }: { answer: Removal | undefined }) {
  const holds = answer?.holds ?? [];
  if (!holds.length) return null;
  return (
    <p className="still-held" role="status">
      {formatCount(holds.length)} call{holds.length === 1 ? "" : "s"} that it held still wait
      {holds.length === 1 ? "s" : ""}: <Link to="/">decide</Link>
    </p>
  );
}
