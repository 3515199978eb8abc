import { formatClock, formatDuration } from "../ui/format";
import { Panel, Status } from "../ui/parts";
import type { Tool, Turn } from "./conversation-rows";
import { splitObject } from "./json-text";
import { LongText } from "./LongText";

interface ToolDetailProps {
  session: string;
  turn: Turn;
  tool: Tool;
  onClose: () => void;
}

/** One call of a tool, whole: what it was given, what came of it, and who decided what. */
export function ToolDetail({ session, turn, tool, onClose }: ToolDetailProps) {
  const aside = (
    <button type="button" className="quiet" onClick={onClose} aria-label="Close the tool">
      ✕
    </button>
  );
  return (
    <Panel title={`Tool ${tool.name}`} aside={aside} className="tool-detail">
      <div className="panel-body">
        <p className="row">
          <Status of={tool.status} />
          <span className="soft">
            {[
              `iteration ${turn.iteration} of ${turn.lane}`,
              formatClock(tool.timestamp),
              formatDuration(tool.duration_ms),
              tool.held_ms ? `held ${formatDuration(tool.held_ms)}` : "",
              tool.pure ? "changes nothing outside" : "",
              tool.replayed ? "from the recording" : "",
            ]
              .filter(Boolean)
              .join(" · ")}
          </span>
        </p>
        <h3>Input</h3>
        <InputValues session={session} text={tool.input_text} size={tool.input_size} cid={tool.input_cid} />
        {tool.requested_text === undefined ? null : (
          <>
            <h3>The agent asked for</h3>
            <InputValues session={session} text={tool.requested_text} />
          </>
        )}
        {tool.error ? (
          <>
            <h3>Error</h3>
            <p className="failure">
              {tool.error.type}: {tool.error.message}
            </p>
          </>
        ) : null}
        {tool.result_text === undefined ? null : (
          <>
            <h3>Result</h3>
            <LongText
              session={session}
              text={tool.result_text}
              size={tool.result_size}
              cid={tool.result_cid}
              most={2000}
              label="the result"
            />
          </>
        )}
        {tool.decision ? (
          <p>
            Decided: {tool.decision.action}
            {tool.decision.by ? ` by ${tool.decision.by}` : ""} <code>{tool.decision.json ?? ""}</code>
          </p>
        ) : null}
      </div>
    </Panel>
  );
}

interface InputValuesProps {
  session: string;
  text: string;
  size?: number | undefined;
  cid?: string | undefined;
}

function InputValues({ session, text, size, cid }: InputValuesProps) {
  const members = size === undefined ? splitObject(text) : null;
  if (!members) return <LongText session={session} text={text} size={size} cid={cid} label="the input" />;
  if (!members.length) return <p className="soft">nothing</p>;
  return (
    <dl className="values">
      {members.map((member) => (
        <div key={member.name}>
          <dt>{member.name}</dt>
          <dd>
            <LongText session={session} text={member.text} label={member.name} />
          </dd>
        </div>
      ))}
    </dl>
  );
}
