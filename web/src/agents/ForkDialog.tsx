import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { Button, Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";

import { api, bodyOf, type Schemas, ServerProblem } from "../api/client";
import { CopyableCommand, ProblemMessage } from "../ui/parts";
import { type AgentSession, stepMessagesQuery } from "./agent-queries";
import { joinWords, splitWords } from "./command-words";
import { MessageEditor } from "./MessageEditor";
import { draftMessage, findProblem, isSame, type MessageDraft, writeMessage } from "./message-drafts";

export interface ForkPlace {
  iteration: number;
  lane: string;
}

interface ForkDialogProps {
  session: AgentSession;
  place: ForkPlace;
  onClose: () => void;
}

/** Runs the agent again from a model call on, with its messages changed. The run itself stays as it is. */
export function ForkDialog({ session, place, onClose }: ForkDialogProps) {
  const query = stepMessagesQuery(session.session_id, place.iteration, place.lane);
  const { data, error } = useQuery(query);
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={onClose} className="overlay">
      <Modal className="dialog fork-dialog agent-pages">
        <Dialog>
          <Heading slot="title">
            Fork {session.name ?? session.session_id} at model call {place.iteration}
            {place.lane === "main" ? "" : ` of ${place.lane}`}
          </Heading>
          <ProblemMessage problem={error} />
          {data ? (
            <ForkForm session={session} step={data} onClose={onClose} />
          ) : (
            <p className="soft">Reading its messages…</p>
          )}
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}

interface ForkFormProps {
  session: AgentSession;
  step: Schemas["StepMessages"];
  onClose: () => void;
}

function ForkForm({ session, step, onClose }: ForkFormProps) {
  const navigate = useNavigate();
  const [drafts, setDrafts] = useState<MessageDraft[]>(() => step.messages.map(draftMessage));
  const [system, setSystem] = useState(step.system?.text ?? "");
  const [command, setCommand] = useState("");
  const [isHeld, setHeld] = useState(false);
  const isEdited = !isSame(drafts, step.messages);
  const hasPrompt = step.system?.place !== "messages"; // otherwise it is one of the messages
  const isOtherPrompt = hasPrompt && system !== (step.system?.text ?? "");
  const words = splitWords(command);
  const body: Schemas["AgentFork"] = {
    at: step.fork_at,
    hold: isHeld,
    ...(step.lane === "main" ? {} : { lane: step.lane }),
    ...(isEdited ? { messages: drafts.map(writeMessage) } : {}),
    ...(isOtherPrompt ? { system } : {}),
    ...(words.length ? { command: words } : {}),
  };
  const fork = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST("/sessions/{session_id}/fork", {
          params: { path: { session_id: session.session_id } },
          body,
        }),
      ),
    onSuccess: (answer) => {
      if (answer.session_id === null) return;
      onClose();
      void navigate({ to: "/agents/$id", params: { id: answer.session_id } } as never);
    },
  });
  const problem = findProblem(drafts);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!problem) fork.mutate();
  };
  return (
    <form className="fork-form" onSubmit={submit}>
      <p className="soft">{describeStart(step.fork_at)}</p>
      {hasPrompt ? (
        <label>
          system prompt
          <textarea rows={2} value={system} onChange={(event) => setSystem(event.target.value)} />
        </label>
      ) : null}
      <MessageEditor drafts={drafts} onChange={setDrafts} />
      <label>
        command
        <input
          value={command}
          placeholder={
            session.process ? joinWords(session.process.command) : "the command that it was started with"
          }
          onChange={(event) => setCommand(event.target.value)}
        />
      </label>
      <label className="check">
        <input type="checkbox" checked={isHeld} onChange={(event) => setHeld(event.target.checked)} /> Hold at
        the first live call
      </label>
      <ProblemMessage problem={problem ?? fork.error} />
      <ProcessOutput problem={fork.error} />
      {fork.data?.session_id === null ? (
        <p role="status">
          Its process {fork.data.pid} runs and has not begun its session yet. It appears under Agents when it
          does.
        </p>
      ) : null}
      <div className="actions fork-actions">
        <button type="submit" className="primary" disabled={fork.isPending || problem !== null}>
          {fork.isPending ? "Starting…" : "Fork"}
        </button>
        <Button slot="close">Close</Button>
      </div>
      <details>
        <summary>The same on the command line</summary>
        <CopyableCommand text={writeForkCommand(session.session_id, body)} />
        {isEdited ? (
          <>
            <p className="soft">
              with this in <code>messages.json</code>:
            </p>
            <CopyableCommand text={`[${drafts.map(writeMessage).join(",\n ")}]`} />
          </>
        ) : null}
      </details>
    </form>
  );
}

function describeStart(at: number): string {
  if (at === 0) return "Everything runs live.";
  const recorded =
    at === 1 ? "The first model call and its tools come" : `The first ${at} model calls and their tools come`;
  return `${recorded} from the recording. From here on it runs live.`;
}

/** What the agent printed before it failed to start. */
function ProcessOutput({ problem }: { problem: unknown }) {
  const printed = problem instanceof ServerProblem ? problem.details.stderr : null;
  return printed ? <pre className="body-text failure">{String(printed)}</pre> : null;
}

/** The command that makes the same fork. */
export function writeForkCommand(id: string, body: Schemas["AgentFork"]): string {
  const words = ["holdfast", "agent", "fork", id, "--at", String(body.at)];
  if (body.lane) words.push("--lane", body.lane);
  if (body.system) words.push("--system", body.system);
  if (body.messages) words.push("--messages", "messages.json");
  if (body.hold) words.push("--edit");
  if (body.command) words.push("--", ...body.command);
  return joinWords(words);
}
