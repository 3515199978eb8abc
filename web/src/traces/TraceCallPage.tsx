import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";

import { useAddressValue, usePathParameter } from "../ui/address";
import { formatCount } from "../ui/format";
import { Panel, ProblemMessage } from "../ui/parts";
import { CallHeader } from "./CallHeader";
import { useLineKeys, useRoundKeys } from "./call-keys";
import { useStatementOpening } from "./place-opening";
import { readSource } from "./python-source";
import { Remarks } from "./Remarks";
import { listFiles, shortName, writePlace } from "./recorded-places";
import { useRoundChoice } from "./round-choice";
import { TracedSource } from "./TracedSource";
import { EXCEPTION, type Trace, type TraceCall, traceCallQuery, traceQuery } from "./trace-queries";
import "./traces.css";
import { followPass } from "./traced-pass";
import { WhyPanel } from "./WhyPanel";
import { useWhyQuestion } from "./why-question";
import { listShownRounds } from "./why-steps";

/** One call of a recording: its source, what each line did, and where values came from. */
export function TraceCallPage() {
  const id = usePathParameter("id");
  const key = usePathParameter("key");
  const { data, error } = useQuery(traceCallQuery(id, key));
  const trace = useQuery(traceQuery(id)).data;
  return (
    <div className="trace-pages trace-call">
      <ProblemMessage problem={error} />
      {data && trace ? (
        <CallView key={data.key} call={data} trace={trace} />
      ) : error ? null : (
        <p className="empty">Reading the call…</p>
      )}
    </div>
  );
}

function CallView({ call, trace }: { call: TraceCall; trace: Trace }) {
  const [lineText, setLineText] = useAddressValue("line");
  const line = Number(lineText) || 0;
  const setLine = (next: number) => setLineText(next ? String(next) : "");
  const [choice, chooseRound] = useRoundChoice();
  const source = useMemo(() => readSource(call.source), [call]);
  const pass = useMemo(() => followPass(call.entries, choice), [call, choice]);
  const open = useStatementOpening(call.trace_id, call.key);
  const why = useWhyDraft(call, line);
  useLineKeys(source, pass, line, setLine);
  useRoundKeys(source, pass, line, chooseRound);
  return (
    <>
      <CallHeader call={call} />
      <div className="trace-main">
        <Remarks remarks={call.remarks ?? []} />
        <section className="panel source-panel" aria-label="What ran">
          <TracedSource
            call={call}
            source={source}
            pass={pass}
            line={line}
            onLine={setLine}
            onRound={chooseRound}
            onWhy={why.ask}
          />
        </section>
      </div>
      <div className="trace-side">
        <WhyPanel
          trace={trace}
          draft={why.draft}
          files={listFiles(trace.calls ?? [], call)}
          shown={{ call, rounds: listShownRounds(pass) }}
          onOpen={open}
        />
        <CallerPanel call={call} />
        <ChildPanel call={call} />
      </div>
    </>
  );
}

/** Asks about a value that the chosen line left, and prepares a question about that line. */
function useWhyDraft(call: TraceCall, line: number) {
  const [question, askNow] = useWhyQuestion();
  const [draft, setDraft] = useState<{ at?: string }>({});
  const draftedLine = useRef(question ? line : 0); // the form has the question that was asked
  useEffect(() => {
    if (line && line !== draftedLine.current) setDraft({ at: writePlace({ file: call.file, line }) });
    draftedLine.current = line;
  }, [call.file, line]);
  const ask = (variable: string, hit = 0) => {
    if (variable === EXCEPTION) return askNow({ variable, at: "", hit: 1, after: false });
    askNow({ variable, at: writePlace({ file: call.file, line }), hit, after: true });
  };
  return { draft, ask };
}

function CallerPanel({ call }: { call: TraceCall }) {
  const callers = call.callers ?? [];
  if (!callers.length) return null;
  return (
    <Panel title="Called from">
      <ol className="plain-list mono">
        {callers.map((caller, depth) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a caller is its depth
          <li key={depth}>{caller}</li>
        ))}
      </ol>
    </Panel>
  );
}

const MOST_CHILDREN = 200;

function ChildPanel({ call }: { call: TraceCall }) {
  const children = call.children ?? [];
  if (!children.length) return null;
  return (
    <Panel title="Calls made within it" aside={formatCount(children.length)}>
      <ol className="plain-list children">
        {children.slice(0, MOST_CHILDREN).map((child) => (
          <li key={child.key}>
            <Link
              className="mono"
              to={"/traces/$id/calls/$key" as string}
              params={{ id: call.trace_id, key: child.key } as never}
            >
              {shortName(child.function, child.file)}
            </Link>{" "}
            <span className="soft">
              call {formatCount(child.index)}, {child.outcome}
            </span>
          </li>
        ))}
      </ol>
    </Panel>
  );
}
