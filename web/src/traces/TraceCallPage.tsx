import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useEffect, useMemo, useRef, useState } from "react";

import { useAddressValue, usePathParameter } from "../ui/address";
import { formatCount } from "../ui/format";
import { Panel, ProblemMessage } from "../ui/parts";
import { CallHeader } from "./CallHeader";
import { useLineKeys, useRoundKeys } from "./call-keys";
import type { RoundChoice } from "./loop-rounds";
import { readSource } from "./python-source";
import { Remarks } from "./Remarks";
import { findCallAt, listFiles, type Place, shortName, writePlace } from "./recorded-places";
import { useRoundChoice } from "./round-choice";
import { TracedSource } from "./TracedSource";
import {
  EXCEPTION,
  type Trace,
  type TraceCall,
  traceCallQuery,
  traceQuery,
  type WhyQuestion,
} from "./trace-queries";
import "./traces.css";
import { followPass } from "./traced-pass";
import { WhyPanel } from "./WhyPanel";
import { useWhyQuestion } from "./why-question";
import { findMomentAfter } from "./why-steps";

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
  const places = usePlaces(call, trace, setLine);
  const why = useWhyDraft(call, choice, line);
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
          files={places.files}
          onPlace={places.open}
          canShow={places.canShow}
        />
        <CallerPanel call={call} />
        <ChildPanel call={call} />
      </div>
    </>
  );
}

/** Asks about a value beside the chosen line; or prepares the question, where nobody can count the time. */
function useWhyDraft(call: TraceCall, choice: RoundChoice, line: number) {
  const [question, askNow] = useWhyQuestion();
  const [draft, setDraft] = useState<Partial<WhyQuestion>>({});
  const draftedLine = useRef(question ? line : 0); // the form has the question that was asked
  useEffect(() => {
    if (line && line !== draftedLine.current) setDraft({ at: writePlace({ file: call.file, line }) });
    draftedLine.current = line;
  }, [call.file, line]);
  const ask = (variable: string) => {
    if (variable === EXCEPTION) return askNow({ variable, at: "", hit: 1 });
    const after = findMomentAfter(call.entries, choice, line);
    const at = writePlace({ file: call.file, line: after?.line ?? line });
    // Of a later call nobody knows here how often the line ran before.
    if (after && call.index === 1) askNow({ variable, at, hit: after.hit });
    else setDraft({ variable, at });
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

/** How to get to a place of the recording, and whether it has that place. */
function usePlaces(call: TraceCall, trace: Trace, setLine: (line: number) => void) {
  const navigate = useNavigate();
  const calls = trace.calls ?? [];
  const canShow = (place: Place) => findCallAt(place, call, calls) !== null;
  const open = (place: Place) => {
    const key = findCallAt(place, call, calls);
    if (key === call.key) setLine(place.line);
    else if (key !== null)
      void navigate({
        to: "/traces/$id/calls/$key" as string,
        params: { id: call.trace_id, key } as never,
        search: (({ why, at, hit }: Record<string, string>) =>
          Object.fromEntries(
            Object.entries({ why, at, hit, line: String(place.line) }).filter(
              ([, value]) => value !== undefined,
            ),
          )) as never,
      });
  };
  return { canShow, open, files: listFiles(calls, call) };
}
