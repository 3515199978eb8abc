import { useMutation, useQueryClient } from "@tanstack/react-query";

import { api, bodyOf } from "../api/client";
import { sessionQuery } from "../api/queries";
import type { Variable } from "./program-state";
import { breakpointsQuery, scopesQuery, stopKey } from "./queries";
import type { TreePlace } from "./VariableTree";
import { textOf } from "./VariableTree";

/** Of what a variable is a part: of a frame, or of the value with a reference. */
export interface VariableOwner {
  frame: number;
  reference: number | null;
}

/** A variable in a tree. */
export interface VariableNode {
  variable: Variable;
  path: string;
  owner: VariableOwner;
  isSettable: boolean;
  /** The expression that it is the value of, if it is no variable. */
  expression?: string;
}

export const makeNode = (variable: Variable, path: string, owner: VariableOwner): VariableNode => ({
  variable,
  path: `${path}/${variable.name}`,
  owner,
  isSettable: true,
});

export interface ValueActions {
  setValue: (node: VariableNode, text: string) => void;
  copy: (node: VariableNode) => void;
  watch: (node: VariableNode) => void;
  breakOn: (node: VariableNode, access: "change" | "write") => void;
  problem: unknown;
}

/** What one can do with a value. Answers of it are of one hold, as the requests say. */
export function useValueActions({ session, hold, frame }: TreePlace): ValueActions {
  const client = useQueryClient();
  const path = { session_id: session };
  const find = async ({ variable, owner, expression }: VariableNode) => {
    const name = expression ?? variable.name ?? "";
    const query = { name, frame_id: owner.frame, reference: owner.reference, hold_id: hold };
    return bodyOf(api.GET("/sessions/{session_id}/data-breakpoint-info", { params: { path, query } }));
  };
  const nameOf = async (node: VariableNode) => node.expression ?? (await find(node)).description;
  const findOwner = async ({ owner }: VariableNode) => {
    if (owner.reference !== null) return owner.reference;
    const { scopes } = await client.fetchQuery(scopesQuery(session, hold, owner.frame));
    return scopes.find((scope) => scope.name === "Locals")?.reference ?? 0;
  };
  const setting = useMutation({
    mutationFn: async ({ node, text }: { node: VariableNode; text: string }) =>
      bodyOf(
        api.POST("/sessions/{session_id}/variables/{reference}/set", {
          params: { path: { ...path, reference: await findOwner(node) } },
          body: { name: node.variable.name ?? "", value: text, hold_id: hold },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: stopKey(session, hold) }),
  });
  const copying = useMutation({
    mutationFn: async (node: VariableNode) => {
      if (!node.variable.truncated) return navigator.clipboard.writeText(textOf(node.variable));
      const body = {
        expression: await nameOf(node),
        frame_id: frame,
        context: "clipboard" as const,
        max_chars: 1_000_000,
        hold_id: hold,
      };
      const whole = await bodyOf(api.POST("/sessions/{session_id}/evaluate", { params: { path }, body }));
      return navigator.clipboard.writeText(String(whole.result ?? ""));
    },
  });
  const watching = useMutation({
    mutationFn: async (node: VariableNode) =>
      bodyOf(
        api.POST("/sessions/{session_id}/watch", {
          params: { path },
          body: { expression: await nameOf(node) },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: sessionQuery(session).queryKey }),
  });
  const breaking = useMutation({
    mutationFn: async ({ node, access }: { node: VariableNode; access: "change" | "write" }) => {
      const found = await find(node);
      if (!found.data_id) throw new Error(found.message ?? `${found.description} cannot be watched.`);
      return bodyOf(
        api.POST("/sessions/{session_id}/data-breakpoints", {
          params: { path },
          body: { data_id: found.data_id, frame_id: owner(node), access_type: access, enabled: true },
        }),
      );
    },
    onSettled: () => client.invalidateQueries({ queryKey: breakpointsQuery(session).queryKey }),
  });
  return {
    setValue: (node, text) => setting.mutate({ node, text }),
    copy: copying.mutate,
    watch: watching.mutate,
    breakOn: (node, access) => breaking.mutate({ node, access }),
    problem: setting.error ?? copying.error ?? watching.error ?? breaking.error,
  };
}

const owner = (node: VariableNode) => node.owner.frame;
