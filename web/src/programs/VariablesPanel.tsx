import { useQueries, useQuery } from "@tanstack/react-query";
import { useRef, useState } from "react";

import { formatCount } from "../ui/format";
import { EmptyState, Panel, ProblemMessage } from "../ui/parts";
import type { Frame, Variable } from "./program-state";
import { localsQuery, scopesQuery } from "./queries";
import { readingProblem, useCanRead } from "./stop-reading";
import { type TreePlace, VariableTree } from "./VariableTree";
import { makeNode, type VariableNode } from "./value-actions";

const PAGE = 100;

interface VariablesPanelProps {
  session: string;
  hold: string;
  /** The frame that is looked at, and how many are below it. */
  frame: Frame | undefined;
  depth: number;
}

/** The variables of a frame as a tree: what changed since the last stop is marked. */
export function VariablesPanel({ session, hold, frame, depth }: VariablesPanelProps) {
  return (
    <Panel title="Variables" className="variables" aside={<span className="mono cut">{frame?.name}</span>}>
      <div className="fill">
        {hold && frame ? (
          <FrameVariables session={session} hold={hold} frame={frame} depth={depth} />
        ) : (
          <EmptyState>Variables can be seen while the program is held.</EmptyState>
        )}
      </div>
    </Panel>
  );
}

/** How a function's values are remembered; a call of it deeper in the stack has others. */
export function placeOf(session: string, hold: string, frame: Frame, depth: number): TreePlace {
  const root = `${frame.file}:${frame.name}`;
  return { session, hold, frame: frame.id ?? 0, root, memory: `${depth} ${root}` };
}

function FrameVariables({ session, hold, frame, depth }: VariablesPanelProps & { frame: Frame }) {
  const [pages, setPages] = useState(1);
  const place = placeOf(session, hold, frame, depth);
  const canRead = useCanRead();
  const hasLocals = frame.id !== undefined; // a stack that was read from outside has none
  const answers = useQueries({
    queries: Array.from({ length: pages }, (_, page) => ({
      ...localsQuery(session, hold, place.frame, page * PAGE),
      enabled: canRead && hasLocals,
    })),
  });
  const globals = useGlobals(place, canRead && hasLocals);
  const last = useRef<{ root: string; locals: Variable[] }>({ root: "", locals: [] });
  const isReady = answers.every((answer) => answer.data);
  if (isReady)
    last.current = { root: place.root, locals: answers.flatMap((answer) => answer.data?.variables ?? []) };
  const locals = last.current.root === place.root ? last.current.locals : [];
  const owner = { frame: place.frame, reference: null };
  const final = answers.at(-1)?.data;
  const nodes = [...locals.map((variable) => makeNode(variable, place.root, owner)), ...globals];
  if (!hasLocals)
    return <EmptyState>This stack was read from outside the program, so it has no values.</EmptyState>;
  return (
    <>
      <ProblemMessage problem={readingProblem(answers.find((answer) => answer.error)?.error)} />
      <VariableTree label="Variables" place={place} nodes={nodes} isOld={!isReady} />
      {final?.has_more ? (
        <button type="button" className="quiet more-items" onClick={() => setPages(pages + 1)}>
          Show more ({formatCount(locals.length)} of {formatCount(final.total)} variables)
        </button>
      ) : null}
    </>
  );
}

/** The module's variables as one more value, read when it is unfolded. */
function useGlobals(place: TreePlace, isEnabled: boolean): VariableNode[] {
  const { data } = useQuery({ ...scopesQuery(place.session, place.hold, place.frame), enabled: isEnabled });
  const last = useRef<VariableNode[]>([]);
  if (data) {
    last.current = data.scopes
      .filter((scope) => scope.name === "Globals")
      .map(({ name, reference, count }) => ({
        variable: { name, reference, expandable: true, value: `${formatCount(count)} names`, type: "module" },
        path: `${place.root}/Globals of the module`,
        owner: { frame: place.frame, reference: null },
        isSettable: false,
        expression: "globals()",
      }));
  }
  return last.current;
}
