import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import { api, bodyOf } from "../api/client";
import { EmptyState, ProblemMessage } from "../ui/parts";
import { ConsoleInput } from "./ConsoleInput";
import { type ConsoleEntry, useConsoleEntries } from "./console-entries";
import type { Frame } from "./program-state";
import { stopKey } from "./queries";
import { VariableTree } from "./VariableTree";

interface ConsolePanelProps {
  session: string;
  hold: string;
  frame: Frame | undefined;
}

/** Evaluates expressions, and runs statements, in the frame that is looked at. */
export function ConsolePanel({ session, hold, frame }: ConsolePanelProps) {
  const client = useQueryClient();
  const [entries, addEntry, clear] = useConsoleEntries(session);
  const end = useRef<HTMLDivElement>(null);
  const evaluation = useMutation({
    scope: { id: `console ${session}` },
    mutationFn: (expression: string) =>
      bodyOf(
        api.POST("/sessions/{session_id}/evaluate", {
          params: { path: { session_id: session } },
          body: { expression, frame_id: frame?.id ?? 0, context: "repl", hold_id: hold },
        }),
      ),
    onSuccess: (result, expression) => addEntry({ expression, hold, frame: frame?.id ?? 0, result }),
    onError: (problem, expression) => addEntry({ expression, hold, frame: frame?.id ?? 0, problem }),
    // What it ran may have changed any value.
    onSettled: () => client.invalidateQueries({ queryKey: stopKey(session, hold) }),
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: the newest result must be in sight
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [entries.length]);
  return (
    <div className="console">
      <div className="fill" role="log" aria-label="Results" tabIndex={0}>
        {entries.map((entry) => (
          <Entry key={entry.number} entry={entry} session={session} hold={hold} />
        ))}
        {entries.length ? (
          <button type="button" className="quiet" onClick={clear}>
            Clear the console
          </button>
        ) : hold ? (
          <EmptyState>
            Python in the frame that you look at: an expression, or a statement such as total = 0.
          </EmptyState>
        ) : (
          <EmptyState>
            Expressions are evaluated while the program is held. Pause it, or set a breakpoint.
          </EmptyState>
        )}
        <div ref={end} />
      </div>
      <ConsoleInput
        session={session}
        hold={hold}
        frame={frame?.id ?? 0}
        where={frame?.name ?? ""}
        onEnter={(text) => evaluation.mutate(text)}
      />
    </div>
  );
}

function Entry({ entry, session, hold }: { entry: ConsoleEntry; session: string; hold: string }) {
  const { expression, result, problem } = entry;
  const place = {
    session,
    // What a value holds can be read until its stop is over.
    hold: entry.hold === hold ? hold : "",
    frame: entry.frame,
    root: `console/${entry.number}`,
    memory: `console/${entry.number}`,
  };
  const isNothing = result?.type === "NoneType";
  return (
    <div className="console-entry">
      <pre className="asked">{expression}</pre>
      <ProblemMessage problem={problem} />
      {result && !isNothing ? (
        <VariableTree
          label={`Result of ${expression}`}
          place={place}
          nodes={[
            {
              variable: { ...result, name: "" },
              path: place.root,
              owner: { frame: entry.frame, reference: null },
              isSettable: false,
              expression,
            },
          ]}
        />
      ) : null}
    </div>
  );
}
