import { useQueryClient } from "@tanstack/react-query";
import { useEffect, useState } from "react";

import { formatCount } from "../ui/format";
import { EmptyState, ProblemMessage } from "../ui/parts";
import type { Breakpoints } from "./breakpoint-edits";
import { describeBreakpoint, type EditedBreakpoint, type ExceptionFilter } from "./breakpoint-facts";
import type { Breakpoint } from "./program-state";

interface BreakpointsPanelProps {
  session: string;
  /** The hits of breakpoints are other ones at the next hold. */
  hold: string;
  breakpoints: Breakpoints;
  onEdit: (edited: EditedBreakpoint) => void;
  onOpen: (file: string, line: number) => void;
}

const FILTERS: { filter: ExceptionFilter; label: string }[] = [
  { filter: "raised", label: "Raised" },
  { filter: "uncaught", label: "Uncaught" },
  { filter: "userUnhandled", label: "Leaving your code" },
];

/** Every breakpoint of the session: lines, functions, values and exceptions. */
export function BreakpointsPanel({ session, hold, breakpoints, onEdit, onOpen }: BreakpointsPanelProps) {
  const client = useQueryClient();
  // biome-ignore lint/correctness/useExhaustiveDependencies: each hold has its own numbers
  useEffect(
    () => void client.invalidateQueries({ queryKey: ["breakpoints", session] }),
    [client, session, hold],
  );
  return (
    <div className="breakpoints-panel fill">
      <ProblemMessage problem={breakpoints.problem} />
      <ExceptionFilters breakpoints={breakpoints} />
      <FunctionForm breakpoints={breakpoints} />
      {breakpoints.list.length ? (
        <ul className="breakpoint-list" aria-label="Breakpoints">
          {breakpoints.list.map((each) => (
            <BreakpointRow key={each.breakpoint_id} of={each} {...{ breakpoints, onEdit, onOpen }} />
          ))}
        </ul>
      ) : (
        <EmptyState>
          There are no breakpoints. Click beside a line number, or press F9 at a line; “Break when it changes”
          is in the menu of a variable.
        </EmptyState>
      )}
      {breakpoints.list.length > 1 ? (
        <button type="button" className="quiet danger" onClick={breakpoints.removeAll}>
          Remove all
        </button>
      ) : null}
    </div>
  );
}

function ExceptionFilters({ breakpoints }: { breakpoints: Breakpoints }) {
  const filters = (breakpoints.exceptions?.filters ?? []) as ExceptionFilter[];
  const types = breakpoints.exceptions?.types ?? [];
  const toggle = (filter: ExceptionFilter) =>
    breakpoints.setExceptions(
      filters.includes(filter) ? filters.filter((each) => each !== filter) : [...filters, filter],
    );
  return (
    <fieldset className="exception-filters">
      <legend>Stop at exceptions{types.length ? `: ${types.join(", ")}` : ""}</legend>
      {FILTERS.map(({ filter, label }) => (
        <label key={filter} className="check">
          <input type="checkbox" checked={filters.includes(filter)} onChange={() => toggle(filter)} />
          {label}
        </label>
      ))}
    </fieldset>
  );
}

function FunctionForm({ breakpoints }: { breakpoints: Breakpoints }) {
  const [name, setName] = useState("");
  return (
    <form
      className="one-line-form"
      onSubmit={(event) => {
        event.preventDefault();
        if (name.trim())
          void breakpoints.addFunction(name.trim()).then(
            () => setName(""),
            () => undefined,
          );
      }}
    >
      <input
        className="mono"
        aria-label="Break in a function"
        placeholder="Break in a function: Order.total, or save_*"
        value={name}
        onChange={(event) => setName(event.target.value)}
      />
      <button type="submit">Add</button>
    </form>
  );
}

interface BreakpointRowProps {
  of: Breakpoint;
  breakpoints: Breakpoints;
  onEdit: (edited: EditedBreakpoint) => void;
  onOpen: (file: string, line: number) => void;
}

function BreakpointRow({ of, breakpoints, onEdit, onOpen }: BreakpointRowProps) {
  const place = describeBreakpoint(of);
  const { file, line } = of;
  return (
    <li className="breakpoint">
      <input
        type="checkbox"
        aria-label={`Enable ${place}`}
        checked={of.enabled}
        onChange={(event) => breakpoints.enable(of, event.target.checked)}
      />
      <div className="grow">
        <div className="row">
          {file && line !== undefined ? (
            <button type="button" className="link mono cut" onClick={() => onOpen(file, line)}>
              {place}
            </button>
          ) : (
            <span className="mono cut">{place}</span>
          )}
          <span className="soft">{describeHits(of.hits)}</span>
          {of.verified ? null : <span className="status failed">not verified</span>}
        </div>
        <div className="mono soft cut">{describeTerms(of)}</div>
        {of.message || of.warning ? <p className="note">{of.message ?? of.warning}</p> : null}
        {of.suggestion && file ? (
          <p className="note">
            Line {of.suggestion.line} could stop.{" "}
            <button
              type="button"
              className="link"
              onClick={() => moveTo(breakpoints, of, of.suggestion?.line ?? 1)}
            >
              Move it there
            </button>
          </p>
        ) : null}
      </div>
      <button
        type="button"
        className="quiet"
        aria-label={`Edit ${place}`}
        onClick={() => onEdit({ breakpoint: of })}
      >
        Edit
      </button>
      <button
        type="button"
        className="quiet"
        aria-label={`Remove ${place}`}
        onClick={() => void breakpoints.remove(of).catch(() => undefined)}
      >
        ×
      </button>
    </li>
  );
}

function moveTo(breakpoints: Breakpoints, of: Breakpoint, line: number): void {
  const removed = breakpoints.remove(of);
  void removed.then(() => breakpoints.toggle(of.file ?? "", line)).catch(() => undefined);
}

const describeHits = (hits: number) => (hits === 1 ? "1 hit" : `${formatCount(hits)} hits`);

function describeTerms({ condition, hit_condition, log_message }: Breakpoint): string {
  const terms = [
    condition && `if ${condition}`,
    hit_condition && `hits ${hit_condition}`,
    log_message && `writes ${log_message}`,
  ];
  return terms.filter(Boolean).join(" · ");
}
