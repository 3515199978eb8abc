import { type CSSProperties, type KeyboardEvent, memo, useEffect, useMemo, useRef } from "react";

import { type AskWhy, LineNotes, Outcome } from "./LineNotes";
import { LoopScrubber } from "./LoopScrubber";
import { describeLines, type LineState } from "./line-states";
import type { Piece, Source, SourceLine } from "./python-source";
import { EXCEPTION, type TraceCall } from "./trace-queries";
import type { LinePass, Pass } from "./traced-pass";

interface TracedSourceProps {
  call: TraceCall;
  source: Source;
  pass: Pass;
  /** The chosen line; 0 if none is. */
  line: number;
  onLine: (line: number) => void;
  onRound: (loop: number, round: number) => void;
  onWhy: AskWhy;
}

/** The source of a call. Beside each line stands what it did, and below each loop the choice of its round. */
export function TracedSource({ call, source, pass, line, onLine, onRound, onWhy }: TracedSourceProps) {
  const list = useRef<HTMLOListElement>(null);
  const states = useMemo(() => describeLines(source, pass), [source, pass]);
  useEffect(() => {
    if (line) list.current?.querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
  }, [line]);
  const press = (event: KeyboardEvent) => {
    if (!(event.target as HTMLElement).matches(".line-number")) return;
    const at = source.lines.findIndex(({ number }) => number === line);
    const next = findNextLine(event.key, at, source.lines);
    if (!next) return;
    event.preventDefault();
    onLine(next.number);
    list.current?.querySelector<HTMLElement>(`[data-line="${next.number}"]`)?.focus();
  };
  const stop = source.lines.some(({ number }) => number === line) ? line : source.lines[0]?.number;
  return (
    <ol className="traced-source" ref={list} onKeyDown={press} aria-label={`Source of ${call.function}`}>
      {source.lines.map((each) => (
        <TracedLine
          key={each.number}
          line={each}
          state={states.get(each.number) ?? "plain"}
          passed={pass.lines.get(each.number)}
          args={each.number === source.head ? call.args : undefined}
          isChosen={each.number === line}
          isTabStop={each.number === stop}
          onLine={onLine}
          onRound={onRound}
          onWhy={onWhy}
        />
      ))}
      <li className="traced-end">
        <CallEnd call={call} onWhy={onWhy} />
      </li>
    </ol>
  );
}

function findNextLine(key: string, at: number, lines: SourceLine[]): SourceLine | undefined {
  if (key === "ArrowDown") return lines[at + 1];
  if (key === "ArrowUp") return lines[Math.max(0, at - 1)];
  if (key === "Home") return lines[0];
  return key === "End" ? lines.at(-1) : undefined;
}

interface TracedLineProps {
  line: SourceLine;
  state: LineState;
  passed: LinePass | undefined;
  args: Record<string, string> | undefined;
  isChosen: boolean;
  isTabStop: boolean;
  onLine: (line: number) => void;
  onRound: (loop: number, round: number) => void;
  onWhy: AskWhy;
}

function TracedLine(props: TracedLineProps) {
  const { line, state, passed, args, isChosen, isTabStop, onLine, onRound, onWhy } = props;
  return (
    <li
      className={`traced-line ${state}${isChosen ? " chosen" : ""}${line.isAfterGap ? " after-gap" : ""}`}
      aria-current={isChosen ? "true" : undefined}
      style={{ "--indent": `${line.indent ?? 0}ch` } as CSSProperties}
    >
      <button
        type="button"
        className="line-number"
        data-line={line.number}
        tabIndex={isTabStop ? 0 : -1}
        aria-label={`Line ${line.number}`}
        aria-pressed={isChosen}
        onClick={() => onLine(isChosen ? 0 : line.number)}
      >
        {line.number}
      </button>
      {/* biome-ignore lint/a11y/useKeyWithClickEvents: the number does the same, and has the keys */}
      <code className="line-code" onClick={() => onLine(line.number)}>
        <Pieces pieces={line.pieces} />
        {state === "skipped" ? <span className="unseen"> (did not run here)</span> : null}
      </code>
      <div className="line-notes">
        {args
          ? Object.entries(args).map(([name, value]) => (
              <code key={name} className="note argument">
                {name} = {value}
              </code>
            ))
          : null}
        {passed ? <LineNotes passed={passed} isOpen={isChosen} onWhy={onWhy} /> : null}
      </div>
      {passed?.loops.map((loop, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a loop is its place in the order
          key={index}
          className="line-scrubber"
        >
          <LoopScrubber passed={loop} onChoose={onRound} />
        </div>
      ))}
    </li>
  );
}

const Pieces = memo(function Pieces({ pieces }: { pieces: Piece[] }) {
  return pieces.map((piece, index) =>
    piece.look ? (
      // biome-ignore lint/suspicious/noArrayIndexKey: a piece is its place in the line
      <span key={index} className={piece.look}>
        {piece.text}
      </span>
    ) : (
      piece.text
    ),
  );
});

function CallEnd({ call, onWhy }: { call: TraceCall; onWhy: AskWhy }) {
  if (call.outcome === "raised") {
    return (
      <>
        <Outcome word="raised" isBad>
          {call.result}
        </Outcome>{" "}
        <button type="button" className="quiet small" onClick={() => onWhy(EXCEPTION)}>
          Why?<span className="unseen"> Where the exception came from</span>
        </button>
      </>
    );
  }
  if (call.outcome === "returned") return <Outcome word="returned">{call.result ?? "None"}</Outcome>;
  return <span className="soft">Its end was not recorded.</span>;
}
