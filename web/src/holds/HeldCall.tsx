import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useRef, useState } from "react";

import { api, bodyOf } from "../api/client";
import { CallStack } from "../calls/CallStack";
import { ValueText } from "../calls/CallValue";
import { formatException, nameCall } from "../calls/call-texts";
import { InlineMark } from "../calls/InlineHelp";
import { useCommand } from "../ui/commands";
import { formatClock, formatPlace } from "../ui/format";
import { KeyHint, Panel, ProblemMessage, Status } from "../ui/parts";
import { ArgumentBoxes } from "./ArgumentBoxes";
import { buildContinue, type Decision, describeMoment, type Edits, type HeldCallHold } from "./decision";
import { HeldConsole } from "./HeldConsole";
import { InsteadForms } from "./InsteadForms";
import { ResumeAll } from "./ResumeAll";
import { type Settlement, SettlementBanner } from "./SettledCall";

interface HeldCallProps {
  hold: HeldCallHold;
  /** How it was decided, if it was. */
  settled: Settlement | null;
}

/** A held call: its arguments can be changed, and everything that can be decided about it. */
export function HeldCall({ hold, settled }: HeldCallProps) {
  const [edits, setEdits] = useState<Edits>({});
  const view = useRef<HTMLDivElement>(null);
  const decision = useDecision(hold);
  const isEdited = Object.keys(edits).length > 0;
  const may = (action: string) => !settled && !decision.isPending && hold.allows.includes(action);
  const goOn = () => decision.mutate(buildContinue(edits));
  const focusOn = (selector: string) => {
    const box = view.current?.querySelector<HTMLInputElement>(selector);
    box?.focus();
    box?.select?.();
  };
  useCommand("Continue, with what was changed", "F5", goOn, may("continue"));
  useCommand(
    "Edit the first argument",
    "e",
    () => focusOn(".argument textarea:not([readonly])"),
    may("modify"),
  );
  useCommand("Skip: write its value", "s", () => focusOn("[name=value]"), may("skip"));
  useCommand("Raise: write the exception", "x", () => focusOn("[name=exception]"), may("raise"));
  return (
    <div className="held-call" ref={view}>
      <HeldHead hold={hold} isSettled={settled !== null} />
      {settled ? <SettlementBanner settled={settled} callId={hold.call_id} /> : null}
      <div className="held-columns">
        <div className="column">
          <Panel title="Arguments" aside="as Python shows them">
            <ArgumentBoxes
              items={hold.arguments}
              edits={edits}
              isLocked={settled !== null || !hold.allows.includes("modify")}
              onChange={setEdits}
            />
          </Panel>
          <Outcome hold={hold} />
          <div className="decision-bar">
            <button type="button" className="primary" disabled={!may("continue")} onClick={goOn}>
              Continue <KeyHint of="F5" />
            </button>
            {isEdited ? <EditNote onUndo={() => setEdits({})} /> : null}
            <ResumeAll />
            <ProblemMessage problem={decision.error} />
          </div>
          <CallStack frames={hold.call_site.stack_trace} title="Called from" />
        </div>
        <div className="column">
          <InsteadForms hold={hold} may={may} onDecide={(decided) => decision.mutate(decided)} />
          {hold.evaluates ? <HeldConsole holdId={hold.hold_id} isOpen={!settled} /> : null}
        </div>
      </div>
    </div>
  );
}

function EditNote({ onUndo }: { onUndo: () => void }) {
  return (
    <span className="row soft">
      with your changes
      <button type="button" onClick={onUndo}>
        Undo
      </button>
    </span>
  );
}

/** Decides a hold. What is refused leaves everything as it is. */
function useDecision(hold: HeldCallHold) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (decision: Decision) =>
      bodyOf(
        api.POST("/api/holds/{hold_id}/decision", {
          params: { path: { hold_id: hold.hold_id } },
          body: { by: "page", ...decision },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["holds"] }),
  });
}

function HeldHead({ hold, isSettled }: { hold: HeldCallHold; isSettled: boolean }) {
  return (
    <header className="held-head">
      <div className="row">
        <h1 className="mono call-name">
          {nameCall(hold)}
          <span className="soft">{hold.signature}</span>
          {hold.call_type === "inline" ? <InlineMark /> : null}
        </h1>
        <Status of={isSettled ? "decided" : "held"} />
      </div>
      <p className="soft">
        Held {hold.when === "exception" ? "at its exception" : `${hold.when} the call`} since{" "}
        <time dateTime={hold.opened_at}>{formatClock(hold.opened_at).slice(0, 8)}</time> in{" "}
        <Link to="/calls" search={{ session: hold.session_id } as never}>
          {hold.session_name ?? hold.session_id}
        </Link>
        {hold.location ? `, made at ${formatPlace(hold.location)}` : null} by{" "}
        <Link to="/breakpoints" search={{ edit: hold.breakpoint_id } as never}>
          breakpoint {hold.breakpoint ?? hold.breakpoint_id}
        </Link>
        . {isSettled ? null : describeMoment(hold.when)}
      </p>
    </header>
  );
}

/** What the call came to, if it is held afterwards. */
function Outcome({ hold }: { hold: HeldCallHold }) {
  if (hold.when === "before") return null;
  return (
    <Panel title={hold.status === "exception" ? "Raised" : "Result"}>
      <div className="held-outcome">
        {hold.result ? <ValueText value={hold.result} /> : null}
        {hold.exception_type ? <code className="bad wrap">{formatException(hold)}</code> : null}
      </div>
    </Panel>
  );
}
