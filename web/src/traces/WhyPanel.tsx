import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useRef } from "react";

import { Panel, ProblemMessage } from "../ui/parts";
import type { Place } from "./recorded-places";
import { useWhyAgain, type WhyQuestion, whyQuery } from "./trace-queries";
import { WhyChain } from "./WhyChain";
import { WhyForm } from "./WhyForm";
import { useWhyQuestion, writeWhy } from "./why-question";

interface WhyPanelProps {
  trace: { trace_id: string; recorded: string; target: string };
  /** A question to complete: what is not known yet is left out. */
  draft: Partial<WhyQuestion>;
  files: readonly string[];
  onPlace: (place: Place) => void;
  /** Whether there is something to see at a place. */
  canShow: (place: Place) => boolean;
}

/** Asks where a value came from, and shows the writes that led to it. */
export function WhyPanel({ trace, draft, files, onPlace, canShow }: WhyPanelProps) {
  const [question, ask] = useWhyQuestion();
  const isWhole = trace.recorded === "run";
  const answer = useAnswerInSight(question);
  return (
    <Panel title="Where a value came from" className="why">
      <WhyForm question={question} draft={draft} files={files} onAsk={ask} />
      {question ? (
        <div className="why-answer" aria-live="polite" ref={answer}>
          {isWhole ? (
            <RecordedAnswer trace={trace.trace_id} question={question} onPlace={onPlace} canShow={canShow} />
          ) : (
            <AnotherRun trace={trace.trace_id} question={question} />
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
  onPlace: (place: Place) => void;
  canShow: (place: Place) => boolean;
}

function RecordedAnswer({ trace, question, onPlace, canShow }: RecordedAnswerProps) {
  const { data, error } = useQuery(whyQuery(trace, question));
  if (error) return <ProblemMessage problem={error} />;
  if (!data) return <p className="soft">Looking…</p>;
  return <WhyChain report={data} onPlace={onPlace} canShow={canShow} />;
}

/** Offers to record all of a run. This is not done unasked, because what the program does is done again. */
function AnotherRun({ trace, question }: { trace: string; question: WhyQuestion }) {
  const navigate = useNavigate();
  const again = useWhyAgain(
    trace,
    (report) =>
      void navigate({
        to: "/traces/$id",
        params: { id: report.trace_id } as never,
        search: writeWhy(question) as never,
      }),
  );
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
