import type { KeyboardEvent } from "react";

import { formatCount, formatPlace } from "../ui/format";
import { EmptyState, Panel, ProblemMessage } from "../ui/parts";
import type { Frame } from "./program-state";

interface StackPanelProps {
  frames: Frame[];
  total: number;
  selected: number;
  onSelect: (index: number) => void;
  /** Show more of a deep stack. */
  onMore: () => void;
  /** What a stack that was read from outside says about itself. */
  message?: string | undefined;
  problem: unknown;
}

/** The stack of a thread, innermost frame first. Arrow keys move through it. */
export function StackPanel({ frames, total, selected, onSelect, onMore, message, problem }: StackPanelProps) {
  const move = (event: KeyboardEvent<HTMLElement>) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    const next = selected + (step ?? 0);
    if (!step || next < 0 || next >= frames.length) return;
    event.preventDefault();
    onSelect(next);
    event.currentTarget.querySelectorAll("button")[next]?.focus();
  };
  return (
    <Panel title="Stack" className="stack" aside={total ? formatCount(total) : null}>
      <ProblemMessage problem={problem} />
      {message ? <p className="note">{message}</p> : null}
      {frames.length ? (
        <ol className="frames fill" aria-label="Frames" onKeyDown={move}>
          {frames.map((frame, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a frame is its depth
            <li key={index}>
              <button
                type="button"
                className={frame.library ? "frame library" : "frame"}
                aria-current={index === selected ? "true" : undefined}
                tabIndex={index === selected ? 0 : -1}
                onClick={() => onSelect(index)}
              >
                <span className="cut">{frame.qualname ?? frame.name}</span>
                <span className="soft">{formatPlace(frame as { file: string; line: number })}</span>
              </button>
            </li>
          ))}
        </ol>
      ) : (
        <EmptyState>The stack is shown while the program is held.</EmptyState>
      )}
      {frames.length && total > frames.length ? (
        <button type="button" className="quiet" onClick={onMore}>
          Show more (the innermost {formatCount(frames.length)} of {formatCount(total)})
        </button>
      ) : null}
    </Panel>
  );
}
