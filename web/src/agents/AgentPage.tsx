import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import type { Schemas } from "../api/client";
import { sessionQuery } from "../api/queries";
import { useAddressChange, useAddressValue, usePathParameter } from "../ui/address";
import { useCommand } from "../ui/commands";
import { ProblemMessage } from "../ui/parts";
import { AgentHeader } from "./AgentHeader";
import {
  type AgentSession,
  conversationQuery,
  FEW_TURNS,
  sendCommand,
  stepsQuery,
  useAgentAction,
} from "./agent-queries";
import "./agents.css";
import { BreakpointsPanel } from "./BreakpointsPanel";
import { Conversation } from "./Conversation";
import type { Turn } from "./conversation-rows";
import { ForkDialog, type ForkPlace } from "./ForkDialog";
import { HeldPanel } from "./HeldPanel";
import { RulesPanel } from "./RulesPanel";
import { SayPanel } from "./SayPanel";
import { TimeSlider } from "./TimeSlider";
import { ToolDetail } from "./ToolDetail";
import { VariablesPanel } from "./VariablesPanel";

/** One run of an agent: its conversation, what it waits for, and its past. */
export function AgentPage() {
  const id = usePathParameter("id");
  const { data, error } = useQuery(sessionQuery(id));
  if (error) return <ProblemMessage problem={error} />;
  if (!data) return <p className="empty">Reading the run…</p>;
  if (data.kind !== "agent")
    return (
      <p className="empty">
        Session {id} is no agent: it is of kind {data.kind}.
      </p>
    );
  return <AgentView key={id} session={data as AgentSession} />;
}

function readNumber(text: string): number | null {
  return /^\d+$/.test(text) ? Number(text) : null;
}

function AgentView({ session }: { session: AgentSession }) {
  const id = session.session_id;
  const client = useQueryClient();
  const [atText] = useAddressValue("at");
  const [lane, setLane] = useAddressValue("lane");
  const [tool, setTool] = useAddressValue("tool");
  const [from, setFrom] = useAddressValue("from");
  const changeAddress = useAddressChange();
  const at = readNumber(atText);
  const isOver = session.status === "terminated" || session.status === "failed";
  const [beganOver] = useState(isOver); // one reads a run that is over from its beginning
  const after = readNumber(from) ?? (beganOver && at === null ? 0 : null);
  const { data: run, error } = useQuery(conversationQuery(id, { at, lane, after }));
  const { data: steps } = useQuery(stepsQuery(id, client));
  const [fork, setFork] = useState<ForkPlace | null>(null);
  const cancellation = useAgentAction(id, (toolId: string) =>
    sendCommand(id, { type: "cancel_tool", data: { toolId } }),
  );
  useCommand("Close the tool", "Escape", () => setTool(""), tool !== "");
  const openFork = (turn: Turn) => setFork({ iteration: turn.iteration, lane: turn.lane });
  const lastTurn = run?.turns.findLast((turn) => turn.depth === 0 && turn.status !== "none");
  const firstShown = run?.turns[0]?.number ?? 1;
  // While somebody reads, newer turns must not push out what is read.
  const holdWindow = (isAtEnd: boolean) => {
    if (beganOver || at !== null || !run) return;
    if (!isAtEnd && from === "") setFrom(String(firstShown - 1));
    else if (isAtEnd && !run.has_more) setFrom("");
  };
  const found = findTool(run, tool);
  const isHeldNow = at === null && session.holds.length > 0;
  return (
    <div className={`agent-view agent-pages ${isHeldNow ? "has-hold" : ""}`}>
      <AgentHeader
        session={session}
        totals={run?.totals}
        at={at}
        onForkLast={lastTurn ? () => openFork(lastTurn) : null}
      />
      <div className="agent-main">
        <ProblemMessage problem={error ?? cancellation.error} />
        <LaneChoice lanes={run?.lanes ?? []} lane={lane} onChange={setLane} />
        {run ? (
          <Conversation
            run={run}
            title="Conversation"
            followsEnd={!beganOver || at !== null}
            actions={{
              session: id,
              tool,
              canCancel: at === null && !isOver,
              onOpenTool: (next) => setTool(next, { push: true }),
              onCancelTool: cancellation.mutate,
              onFork: openFork,
            }}
            onEnd={holdWindow}
            onEarlier={() => setFrom(String(Math.max(0, firstShown - 1 - FEW_TURNS)))}
            onLater={() => setFrom(String(run.turns.at(-1)?.number ?? 0))}
          />
        ) : null}
        {steps ? (
          <TimeSlider
            steps={steps}
            at={at}
            onChange={(next) => changeAddress({ at: next === null ? undefined : String(next) })}
          />
        ) : null}
      </div>
      <SidePanels
        session={session}
        run={run}
        isNow={at === null}
        isOver={isOver}
        lane={lane}
        tool={found?.tool.name ?? ""}
      >
        {found ? <ToolDetail session={id} {...found} onClose={() => setTool("")} /> : null}
      </SidePanels>
      {fork ? <ForkDialog session={session} place={fork} onClose={() => setFork(null)} /> : null}
    </div>
  );
}

function findTool(run: Schemas["RunConversation"] | undefined, id: string) {
  for (const turn of id && run ? run.turns : []) {
    const tool = turn.tools.find((each) => each.tool_id === id);
    if (tool) return { turn, tool };
  }
  return null;
}

interface SidePanelsProps {
  session: AgentSession;
  run: Schemas["RunConversation"] | undefined;
  isNow: boolean;
  isOver: boolean;
  lane: string;
  tool: string;
  children: React.ReactNode;
}

/** What stands beside the conversation: what is held, the opened tool, and what one may tell the agent. */
function SidePanels({ session, run, isNow, isOver, lane, tool, children }: SidePanelsProps) {
  const id = session.session_id;
  const canAct = isNow && !isOver;
  const held = session.held ?? [];
  const [focused, setFocused] = useState("");
  // The keys are for what one writes in, else for the newest.
  const keysFor = held.find((stop) => stop.hold_id === focused) ?? held.at(-1);
  return (
    <aside className="agent-side" aria-label="Decisions and details">
      {isNow
        ? held.map((stop) => (
            <HeldPanel
              key={stop.hold_id}
              session={id}
              holdId={stop.hold_id}
              hasKeys={stop === keysFor}
              isAlone={held.length === 1}
              onFocus={() => setFocused(stop.hold_id)}
            />
          ))
        : null}
      {children}
      {canAct ? <SayPanel session={id} lane={lane} /> : null}
      <VariablesPanel
        session={id}
        lane={lane}
        moment={`${session.status} ${session.holds.join(" ")}`}
        isLive={canAct && held.length > 0}
        recorded={run?.variables ?? {}}
      />
      {canAct ? <BreakpointsPanel session={id} /> : null}
      <RulesPanel session={session} tool={tool || (held[0]?.at === "tool" ? (held[0].name ?? "") : "")} />
    </aside>
  );
}

interface LaneChoiceProps {
  lanes: Schemas["ConversationLane"][];
  lane: string;
  onChange: (lane: string) => void;
}

/** Which agents of the process are shown; only if there are several. */
function LaneChoice({ lanes, lane, onChange }: LaneChoiceProps) {
  if (lanes.length < 2) return null;
  return (
    <label className="lane-choice">
      Show
      <select value={lane} onChange={(event) => onChange(event.target.value)}>
        <option value="">all agents</option>
        {lanes.map((each) => (
          <option key={each.lane} value={each.lane}>
            {each.label} ({each.turns} turns, {each.status})
          </option>
        ))}
      </select>
    </label>
  );
}
