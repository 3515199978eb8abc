import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";

import { api, bodyOf } from "../api/client";
import { sessionQuery } from "../api/queries";
import { Panel, ProblemMessage } from "../ui/parts";
import { holdOf, type Program } from "./program-state";
import { type TreePlace, VariableTree } from "./VariableTree";

/** Expressions whose values are shown at every stop. */
export function WatchesPanel({ program }: { program: Program }) {
  const [expression, setExpression] = useState("");
  const client = useQueryClient();
  const session_id = program.session_id;
  const onSettled = () => client.invalidateQueries({ queryKey: sessionQuery(session_id).queryKey });
  const adding = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST("/sessions/{session_id}/watch", { params: { path: { session_id } }, body: { expression } }),
      ),
    onSuccess: () => setExpression(""),
    onSettled,
  });
  const removing = useMutation({
    mutationFn: (watch_id: string) =>
      bodyOf(
        api.DELETE("/sessions/{session_id}/watch/{watch_id}", { params: { path: { session_id, watch_id } } }),
      ),
    onSettled,
  });
  const place: TreePlace = {
    session: session_id,
    hold: holdOf(program),
    frame: 0,
    root: "watches",
    memory: "watches",
  };
  return (
    <Panel title="Watches" className="watches">
      <ProblemMessage problem={adding.error ?? removing.error} />
      <div className="watch-list">
        {program.watches.map((watch) => {
          const name = watch.expression ?? "";
          const variable = { ...watch, name, value: watch.error ?? watch.value ?? "" };
          const node = {
            variable,
            path: `watches/${name}`,
            owner: { frame: 0, reference: null },
            isSettable: false,
            expression: name,
          };
          return (
            <div key={watch.watch_id} className={watch.error ? "watch failed" : "watch"}>
              <VariableTree label={`Watch ${name}`} place={place} nodes={[node]} />
              <button
                type="button"
                className="quiet"
                aria-label={`Remove the watch ${name}`}
                onClick={() => removing.mutate(watch.watch_id ?? "")}
              >
                ×
              </button>
            </div>
          );
        })}
      </div>
      <form
        className="one-line-form"
        onSubmit={(event) => {
          event.preventDefault();
          if (expression.trim()) adding.mutate();
        }}
      >
        <input
          className="mono"
          aria-label="Watch an expression"
          placeholder="Watch an expression"
          value={expression}
          onChange={(event) => setExpression(event.target.value)}
        />
        <button type="submit">Watch</button>
      </form>
    </Panel>
  );
}
