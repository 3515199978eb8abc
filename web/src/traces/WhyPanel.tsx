import { useQuery } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { Panel, ProblemMessage } from "../ui/parts";
import { type WhyQuestion, type WhyStatement, whyQuery } from "./trace-queries";
import { WhyChain } from "./WhyChain";
import { WhyForm } from "./WhyForm";
import { type ShownCall, useAnswerOfAnotherRun } from "./why-again";
import { useWhyQuestion, writeWhy } from "./why-question";

interface WhyPanelProps {
  trace: { trace_id: string; recorded: string; target: string };
  /** What the form begins with. */
  draft: { at?: string };
  files: readonly string[];
  shown?: ShownCall;
  onOpen: (statement: WhyStatement) => void;
}

/** Asks where a value came from, and shows the writes that led to it. */
export function WhyPanel({ trace, draft, files, shown, onOpen }: WhyPanelProps) {
  const [question, ask] = useWhyQuestion();
  const isWhole = trace.recorded === "run";
  const answer = useAnswerInSight(question);
  return (
    <Panel title="Where a value came from" className="why">
      <WhyForm question={question} draft={draft} files={files} onAsk={ask} />
      {question ? (
        <div className="why-answer" aria-live="polite" ref={answer}>
          {isWhole ? (
            <RecordedAnswer trace={trace.trace_id} question={question} onOpen={onOpen} />
          ) : (
            <AnotherRun trace={trace.trace_id} question={question} shown={shown} />
          )}
        </div>
      ) : null}
    </Panel>
  );
}

/** Where the answer stands below the source, a new question brings it into sight. */
function useAnswerInSight(question: WhyQuestion | null) {
  const answer = useRef<HTMLDivElement>(null);
  const asked = question ? JSON.stringify(writeWhy(question)) : "";
  const before = useRef(asked);
  useEffect(() => {
    if (asked !== before.current && matchMedia("(max-width: 1000px)").matches)
      answer.current?.scrollIntoView({ block: "center" });
    before.current = asked;
  }, [asked]);
  return answer;
}

interface RecordedAnswerProps {
  trace: string;
  question: WhyQuestion;
  onOpen: (statement: WhyStatement) => void;
}

function RecordedAnswer({ trace, question, onOpen }: RecordedAnswerProps) {
  const { data, error } = useQuery(whyQuery(trace, question));
  if (error) return <ProblemMessage problem={error} />;
  if (!data) return <p className="soft">Looking…</p>;
  return <WhyChain answer={data} onOpen={onOpen} />;
}

interface AnotherRunProps {
  trace: string;
  question: WhyQuestion;
  shown: ShownCall | undefined;
}

/** Offers to record all of a run. This is not done unasked, because what the program does is done again. */
function AnotherRun({ trace, question, shown }: AnotherRunProps) {
  const again = useAnswerOfAnotherRun(trace, shown);
  return (
    <>
      <p>
        This recording follows one function, and not what fed it. A new run, with everything that the program
        does, can record all of its own code.
      </p>
      <div className="row">
        <button type="button" disabled={again.isPending} onClick={() => again.mutate(question)}>
          Run again and ask
        </button>
        <span className="soft">{again.isPending ? "It runs…" : ""}</span>
      </div>
      <ProblemMessage problem={again.error} />
    </>
  );
}
