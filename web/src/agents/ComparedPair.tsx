import { Link } from "@tanstack/react-router";

import type { Schemas } from "../api/client";
import { formatDuration } from "../ui/format";
import { LongText } from "./LongText";

type Step = Schemas["ComparedStep"];

interface ComparedPairProps {
  pair: Schemas["StepPair"];
  runs: Schemas["ComparedRuns"];
  isCurrent: boolean;
  isOpen: boolean;
  onOpen: () => void;
}

/** Two steps beside each other, with what differs between them. */
export function ComparedPair({ pair, runs, isCurrent, isOpen, onOpen }: ComparedPairProps) {
  const sides = [
    { run: runs.left, step: pair.left, side: "A" },
    { run: runs.right, step: pair.right, side: "B" },
  ];
  return (
    <article
      className="pair"
      data-same={pair.same}
      aria-current={isCurrent ? "step" : undefined}
      aria-label={`Step ${pair.index + 1}`}
    >
      {pair.differences.map((difference) => (
        <p className="difference" key={difference.text}>
          {isOpen ? <b>Differs here: </b> : null}
          {difference.what}: {difference.text}
        </p>
      ))}
      <div className="pair-sides">
        {sides.map(({ run, step, side }) => (
          <div key={side} className="pair-side">
            {step ? (
              <StepSummary
                step={step}
                session={run.session_id}
                side={side}
                lane={pair.lane}
                isOpen={isOpen}
              />
            ) : (
              <p className="soft">{side} has no such step.</p>
            )}
          </div>
        ))}
      </div>
      {isOpen || pair.same ? null : (
        <button type="button" className="quiet" onClick={onOpen}>
          Open<span className="unseen"> step {pair.index + 1}</span>
        </button>
      )}
    </article>
  );
}

interface StepSummaryProps {
  step: Step;
  session: string;
  side: string;
  lane: string;
  isOpen: boolean;
}

function StepSummary({ step, session, side, lane, isOpen }: StepSummaryProps) {
  const most = isOpen ? 1500 : 120;
  return (
    <>
      <p className="row">
        <span className="side soft">{side}</span>
        <b>{step.kind === "model" ? `model ${step.name}` : step.name}</b>
        <span className="soft grow">
          #{step.iteration}
          {lane === "main" ? "" : ` of ${lane}`} · {formatDuration(step.duration_ms)}
          {step.replayed ? " · from the recording" : ""}
        </span>
        <Link to="/agents/$id" params={{ id: session } as never} search={{ at: String(step.seq) } as never}>
          show<span className="unseen"> it in {side}</span>
        </Link>
      </p>
      {step.input_text === undefined ? null : (
        <LongText session={session} text={step.input_text} most={most} label={`the input in ${side}`} />
      )}
      {step.ran_with_text === undefined ? null : (
        <LongText
          session={session}
          text={`ran with ${step.ran_with_text}`}
          most={most}
          label={`what ${side} ran with`}
        />
      )}
      {isOpen
        ? step.messages?.map((message, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: messages have no other name, and stay in their order
            <div className="said" data-role={message.role.split(" ")[0]} key={index}>
              <span className="speaker">{message.role}</span>
              <LongText
                session={session}
                text={message.text || (message.json ?? "")}
                most={most}
                label={`a message in ${side}`}
              />
            </div>
          ))
        : null}
      {step.error ? (
        <p className="failure">
          {step.error.type}: {step.error.message}
        </p>
      ) : step.result_text === undefined ? null : (
        <LongText
          session={session}
          text={step.result_text.startsWith("→") ? step.result_text : `→ ${step.result_text}`}
          most={most}
          label={`the result in ${side}`}
        />
      )}
    </>
  );
}
