import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { api, bodyOf } from "../api/client";
import { Panel } from "../ui/parts";

interface Line {
  id: number;
  expression: string;
  text: string;
  type: string | null;
}

/** Evaluates expressions where the held call is made: in the application, never in the server. */
export function HeldConsole({ holdId, isOpen }: { holdId: string; isOpen: boolean }) {
  const [expression, setExpression] = useState("");
  const [lines, setLines] = useState<Line[]>([]);
  const add = (line: Omit<Line, "id">) => setLines((before) => [...before, { id: before.length, ...line }]);
  const evaluation = useMutation({
    mutationFn: (text: string) =>
      bodyOf(
        api.POST("/api/holds/{hold_id}/evaluate", {
          params: { path: { hold_id: holdId } },
          body: { expression: text },
        }),
      ),
    onSuccess: (answer, text) => {
      add({
        expression: text,
        text: "result" in answer ? String(answer.result) : "",
        type: answer.type ?? "",
      });
      setExpression("");
    },
    onError: (problem, text) => add({ expression: text, text: problem.message, type: null }),
  });
  return (
    <Panel title="Evaluate in the caller">
      <div className="held-console">
        <div role="log" aria-label="Evaluated" className="mono">
          {lines.map((line) => (
            <div key={line.id}>
              <div className="soft">&gt;&gt;&gt; {line.expression}</div>
              <div className={line.type === null ? "bad wrap" : "wrap"}>{line.text}</div>
            </div>
          ))}
        </div>
        <form
          className="row"
          onSubmit={(event) => {
            event.preventDefault();
            if (expression.trim()) evaluation.mutate(expression);
          }}
        >
          <input
            aria-label="expression"
            className="mono"
            value={expression}
            placeholder="a name or an expression of the caller"
            disabled={!isOpen}
            spellCheck={false}
            onChange={(event) => setExpression(event.target.value)}
          />
          <button type="submit" disabled={!isOpen || evaluation.isPending}>
            Evaluate
          </button>
        </form>
      </div>
    </Panel>
  );
}
