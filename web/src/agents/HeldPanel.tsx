import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { holdQuery } from "../api/queries";
import { useCommand } from "../ui/commands";
import { formatClock } from "../ui/format";
import { KeyHint, Panel, ProblemMessage } from "../ui/parts";
import {
  type AgentHold,
  controlAgent,
  type Decision,
  decide,
  stepMessagesQuery,
  useAgentAction,
} from "./agent-queries";
import { RaiseForm, SkipForm } from "./DecisionForms";
import { type JsonMember, joinObject, splitObject } from "./json-text";
import { MessageEditor } from "./MessageEditor";
import { draftMessage, findProblem, isSame, type MessageDraft, writeMessage } from "./message-drafts";

interface HeldPanelProps {
  session: string;
  holdId: string;
  /** Whether the keys are for this hold. */
  hasKeys: boolean;
  /** Whether nothing else of the run is held. */
  isAlone: boolean;
  onFocus: () => void;
}

type HeldDecisionProps = Omit<HeldPanelProps, "holdId"> & { hold: AgentHold };

/** What waits for a decision, and everything that can be decided about it. */
export function HeldPanel({ holdId, ...rest }: HeldPanelProps) {
  const { data, error } = useQuery(holdQuery(holdId));
  const hold = data?.kind === "agent" ? (data as AgentHold) : null;
  return hold ? <HeldDecision key={holdId} hold={hold} {...rest} /> : <ProblemMessage problem={error} />;
}

const MOMENTS: Record<string, string> = {
  tool: "before the tool runs",
  model: "before the model is asked",
  error: "after it failed, before the loop hears of it",
};

function HeldDecision({ session, hold, hasKeys, isAlone, onFocus }: HeldDecisionProps) {
  const decision = useAgentAction(session, (given: Decision) => decide(hold.hold_id, given));
  const allows = (action: string) => hold.allows.includes(action);
  const [change, setChange] = useState<Decision | null>(null);
  const goOn = () => decision.mutate(change ?? ({ action: "continue" } as Decision));
  // A step of one hold ends at the next model call of its own lane; one of the session, at the next of all.
  const stepping = useAgentAction(session, () =>
    isAlone ? controlAgent(session, "step-over") : decide(hold.hold_id, { action: "step" } as Decision),
  );
  const step = () => stepping.mutate(undefined);
  const isBusy = decision.isPending || stepping.isPending;
  useCommand("Continue, with what was changed", "F5", goOn, hasKeys);
  useCommand("Step to the next model call", "F10", step, hasKeys && allows("step") && change === null);
  return (
    <Panel
      title={`Held: ${hold.name ?? hold.title ?? hold.at}`}
      className={hasKeys ? "held-panel has-keys" : "held-panel"}
      aside={<span>{hold.reason}</span>}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: it only hears where the focus is */}
      <div className="panel-body" onFocus={onFocus}>
        <p className="soft">
          {MOMENTS[hold.at ?? ""] ?? ""} · iteration {hold.iteration}
          {hold.lane ? ` of ${hold.lane}` : ""} · since {formatClock(hold.opened_at).slice(0, 8)}
        </p>
        <HoldCause hold={hold} />
        {hold.at === "tool" && allows("modify") ? <InputBoxes hold={hold} onChange={setChange} /> : null}
        {hold.at === "model" && allows("modify") ? (
          <ModelInput session={session} hold={hold} onChange={setChange} />
        ) : null}
        <div className="actions decision-actions">
          <button type="button" className="primary" disabled={isBusy} onClick={goOn}>
            Continue {hasKeys ? <KeyHint of="F5" /> : null}
          </button>
          {change ? <span className="soft">with your changes</span> : null}
          {allows("step") ? (
            <button type="button" disabled={isBusy || change !== null} onClick={step}>
              Step {hasKeys ? <KeyHint of="F10" /> : null}
            </button>
          ) : null}
          {allows("cancel") ? (
            <button
              type="button"
              className="danger"
              onClick={() => decision.mutate({ action: "cancel" } as Decision)}
            >
              Cancel the tool
            </button>
          ) : null}
        </div>
        <ProblemMessage problem={decision.error ?? stepping.error} />
        {allows("skip") ? <SkipForm hold={hold} onDecide={decision.mutate} /> : null}
        {allows("raise") ? <RaiseForm onDecide={decision.mutate} /> : null}
      </div>
    </Panel>
  );
}

function HoldCause({ hold }: { hold: AgentHold }) {
  const rule = hold.rule as { source?: string; timeout?: number; onTimeout?: string } | undefined;
  return (
    <>
      {hold.error ? (
        <p className="failure">
          {String(hold.error.type)}: {String(hold.error.message)}
        </p>
      ) : null}
      {rule ? (
        <p className="soft">
          A rule holds it: {rule.source}.
          {rule.timeout ? ` After ${rule.timeout} s without a decision: ${rule.onTimeout}.` : ""}
        </p>
      ) : null}
    </>
  );
}

/** The input of a tool, a box for each parameter. Only what was changed is sent. */
function InputBoxes({ hold, onChange }: { hold: AgentHold; onChange: (change: Decision | null) => void }) {
  const [edited, setEdited] = useState<Record<string, string>>({});
  const members = splitObject(hold.input_text ?? "");
  if (!members) return <p className="soft">Its input is too long to be changed here.</p>;
  const edit = (member: JsonMember, text: string) => {
    const { [member.name]: _, ...rest } = edited;
    const next = text === member.text ? rest : { ...rest, [member.name]: text };
    setEdited(next);
    const changed = Object.entries(next).map(([name, value]) => ({ name, text: value }));
    onChange(changed.length ? ({ action: "modify", input_text: joinObject(changed) } as Decision) : null);
  };
  return (
    <div className="input-boxes">
      {members.map((member) => (
        <label key={member.name} data-changed={member.name in edited}>
          {member.name}
          <textarea
            rows={Math.min(8, Math.ceil(member.text.length / 60) || 1)}
            value={edited[member.name] ?? member.text}
            onChange={(event) => edit(member, event.target.value)}
          />
        </label>
      ))}
      {members.length ? null : <p className="soft">It takes nothing.</p>}
    </div>
  );
}

/** What a model call sends: all its messages, and its system prompt. Fetched when somebody wants to edit them. */
function ModelInput({
  session,
  hold,
  onChange,
}: {
  session: string;
  hold: AgentHold;
  onChange: (change: Decision | null) => void;
}) {
  const [isOpen, setOpen] = useState(false);
  const query = stepMessagesQuery(session, hold.iteration ?? 1, hold.lane ?? "");
  const { data, error } = useQuery({ ...query, enabled: isOpen });
  const [drafts, setDrafts] = useState<MessageDraft[] | null>(null);
  const [system, setSystem] = useState<string | null>(null);
  const shown = drafts ?? data?.messages.map(draftMessage) ?? [];
  const problem = findProblem(shown);
  const change = (next: MessageDraft[], prompt: string | null) => {
    setDrafts(next);
    setSystem(prompt);
    const isOther = data && !isSame(next, data.messages);
    const isOtherPrompt = prompt !== null && prompt !== (data?.system?.text ?? "");
    const messages = isOther ? { messages_text: `[${next.map(writeMessage).join(", ")}]` } : {};
    const given = { action: "modify", ...messages, ...(isOtherPrompt ? { system: prompt } : {}) };
    onChange(isOther || isOtherPrompt ? (given as Decision) : null);
  };
  if (!isOpen)
    return (
      <button type="button" onClick={() => setOpen(true)}>
        Edit the messages
      </button>
    );
  return (
    <>
      <ProblemMessage problem={error ?? problem} />
      {data && data.system?.place !== "messages" ? (
        <label>
          system prompt
          <textarea
            rows={2}
            value={system ?? data.system?.text ?? ""}
            onChange={(event) => change(shown, event.target.value)}
          />
        </label>
      ) : null}
      {data ? <MessageEditor drafts={shown} onChange={(next) => change(next, system)} /> : null}
    </>
  );
}
