import { type FormEvent, useState } from "react";

import { Panel, ProblemMessage } from "../ui/parts";
import { sendCommand, useAgentAction } from "./agent-queries";

/** Say something to the agent: it reads the message before its next model call. */
export function SayPanel({ session, lane }: { session: string; lane: string }) {
  const [role, setRole] = useState("user");
  const [content, setContent] = useState("");
  const injection = useAgentAction(session, (message: { role: string; content: string }) =>
    sendCommand(session, { type: "inject_message", data: message, ...(lane ? { lane } : {}) }),
  );
  const say = (event: FormEvent) => {
    event.preventDefault();
    if (content) injection.mutate({ role, content }, { onSuccess: () => setContent("") });
  };
  return (
    <Panel title="Say something">
      <form className="panel-body" onSubmit={say}>
        <textarea
          rows={2}
          aria-label="What to say to the agent"
          placeholder="It reads this before its next model call."
          value={content}
          onChange={(event) => setContent(event.target.value)}
        />
        <div className="row">
          <select aria-label="Who says it" value={role} onChange={(event) => setRole(event.target.value)}>
            <option>user</option>
            <option>system</option>
            <option>assistant</option>
          </select>
          <button type="submit" disabled={!content || injection.isPending}>
            Send
          </button>
        </div>
        <p className="soft" role="status">
          {injection.isSuccess && !content ? "It was given to the agent." : ""}
        </p>
        <ProblemMessage problem={injection.error} />
      </form>
    </Panel>
  );
}
