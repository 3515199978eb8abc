import { memo } from "react";

import { formatCount, formatDuration } from "../ui/format";
import { Status } from "../ui/parts";
import type { Row, Tool, Turn } from "./conversation-rows";
import { LongText } from "./LongText";

export interface RowActions {
  session: string;
  /** The id of the tool that is shown beside the conversation. */
  tool: string;
  canCancel: boolean;
  onFold: (key: string) => void;
  onOpenTool: (tool: string) => void;
  onCancelTool: (tool: string) => void;
  onFork: (turn: Turn) => void;
}

/** One row of the conversation. */
export const ConversationRow = memo(function ConversationRow({
  row,
  actions,
}: {
  row: Row;
  actions: RowActions;
}) {
  switch (row.kind) {
    case "message":
      return (
        <div className="said" data-role={row.message.role.split(" ")[0]}>
          <span className="speaker">{row.message.role || "messages"}</span>
          <LongText
            session={actions.session}
            text={row.message.text || (row.message.json ?? "")}
            size={row.message.size}
            cid={row.message.cid}
            label={`the message of ${row.message.role}`}
          />
        </div>
      );
    case "answer":
      return <AnswerRow row={row} actions={actions} />;
    case "tool":
      return <ToolRow tool={row.tool} actions={actions} />;
    case "lane":
      return <LaneRow row={row} actions={actions} />;
  }
});

/** The tokens, the time and the cost of a model call, as far as they are known. */
export function describeUse(turn: Turn): string {
  const { answer } = turn;
  if (!answer) return "";
  const { usage, cost, duration_ms, held_ms } = answer;
  return [
    usage ? `${formatCount(usage.input_tokens)} in, ${formatCount(usage.output_tokens)} out` : "",
    formatDuration(duration_ms),
    held_ms ? `held ${formatDuration(held_ms)}` : "",
    cost === undefined ? "" : `cost ${formatCost(cost)}`,
  ]
    .filter(Boolean)
    .join(" · ");
}

export const formatCost = (cost: number): string => String(Number(cost.toPrecision(3)));

function AnswerRow({ row, actions }: { row: Extract<Row, { kind: "answer" }>; actions: RowActions }) {
  const { turn, repeated, echoKey, isOpen } = row;
  const { answer, status } = turn;
  const asked = answer?.asks_for.map((tool) => tool.name).join(", ");
  return (
    <div className="said" data-role="assistant" aria-current={status === "held" ? "step" : undefined}>
      <span className="speaker">
        {turn.model ?? "assistant"} <span className="soft">#{turn.iteration}</span>
      </span>
      <div className="grow">
        {answer?.thinking ? (
          <details>
            <summary className="soft">What it thought</summary>
            <LongText session={actions.session} text={answer.thinking} label="the thoughts" />
          </details>
        ) : null}
        {answer?.text ? (
          <LongText
            session={actions.session}
            text={answer.text}
            size={answer.size}
            cid={answer.cid}
            label={`answer ${turn.iteration}`}
          />
        ) : null}
        {answer?.error ? (
          <p className="failure">
            {answer.error.type}: {answer.error.message}
          </p>
        ) : null}
        {asked ? <p className="soft">asks for {asked}</p> : null}
        <div className="said-foot">
          {status === "done" ? null : <Status of={status} />}
          {turn.replayed ? <Status of="from the recording" /> : null}
          {turn.decision ? <Status of={`decided: ${turn.decision.action}`} /> : null}
          <span className="soft">{describeUse(turn)}</span>
          {repeated ? (
            <button
              type="button"
              className="quiet push"
              aria-expanded={isOpen}
              onClick={() => actions.onFold(echoKey)}
            >
              {isOpen ? "▾" : "▸"} {repeated} repeated<span className="unseen"> messages</span>
            </button>
          ) : null}
          <button type="button" className="quiet push" onClick={() => actions.onFork(turn)}>
            Fork here<span className="unseen"> at iteration {turn.iteration}</span>
          </button>
        </div>
      </div>
    </div>
  );
}

function ToolRow({ tool, actions }: { tool: Tool; actions: RowActions }) {
  const isOpen = actions.tool === tool.tool_id;
  return (
    <div className="tool-call" aria-current={tool.status === "held" ? "step" : undefined} data-open={isOpen}>
      <div className="tool-head">
        <button
          type="button"
          className="quiet tool-name"
          aria-pressed={isOpen}
          onClick={() => actions.onOpenTool(isOpen ? "" : tool.tool_id)}
        >
          {tool.name}
        </button>
        <code className="cut grow">{tool.input_text}</code>
        {tool.decision ? <span className="soft wide-only">{tool.decision.action}</span> : null}
        <span className="soft">{formatDuration(tool.duration_ms)}</span>
        <Status of={tool.status} />
        {tool.status === "running" && actions.canCancel ? (
          <button type="button" className="danger" onClick={() => actions.onCancelTool(tool.tool_id)}>
            Cancel<span className="unseen"> {tool.name}</span>
          </button>
        ) : null}
      </div>
      {tool.error ? (
        <p className="failure">
          {tool.error.type}: {tool.error.message}
        </p>
      ) : tool.result_text !== undefined ? (
        <pre className="tool-result">{cutResult(tool.result_text)}</pre>
      ) : null}
    </div>
  );
}

const RESULT_LINES = 4;
const RESULT_CHARS = 400;

/** The beginning of a result. All of it is shown beside the conversation. */
export function cutResult(text: string): string {
  const lines = text.split("\n", RESULT_LINES + 1);
  const few = lines.slice(0, RESULT_LINES).join("\n");
  return few.length < text.length || few.length > RESULT_CHARS ? `${few.slice(0, RESULT_CHARS)}…` : few;
}

function LaneRow({ row, actions }: { row: Extract<Row, { kind: "lane" }>; actions: RowActions }) {
  const tokens = row.turns.reduce(
    (sum, { answer }) => sum + (answer?.usage ? answer.usage.input_tokens + answer.usage.output_tokens : 0),
    0,
  );
  const count = row.turns.length;
  return (
    <button
      type="button"
      className="quiet fold lane-head"
      aria-expanded={row.isOpen}
      onClick={() => actions.onFold(row.key)}
    >
      {row.isOpen ? "▾" : "▸"} sub-agent <b>{row.lane}</b>
      <span className="soft">
        {count} {count === 1 ? "turn" : "turns"}
        {tokens ? ` · ${formatCount(tokens)} tokens` : ""}
      </span>
    </button>
  );
}
