import { queryOptions } from "@tanstack/react-query";

import { api, bodyOf } from "../api/client";

/** How often a call that still runs is asked about while it is shown. */
const RUNNING_PAUSE = 500;

export const callQuery = (id: string) =>
  queryOptions({
    queryKey: ["call", id],
    queryFn: () => bodyOf(api.GET("/api/calls/{call_id}", { params: { path: { call_id: id } } })),
    refetchInterval: (query) => (query.state.data?.status === "running" ? RUNNING_PAUSE : false),
  });

export const treeQuery = (id: string) =>
  queryOptions({
    queryKey: ["call-tree", id],
    queryFn: () => bodyOf(api.GET("/api/calls/{call_id}/tree", { params: { path: { call_id: id } } })),
    refetchInterval: (query) => (query.state.data?.call.status === "running" ? 2 * RUNNING_PAUSE : false),
  });

/** A value never changes: its id is made of its bytes. */
export const valueQuery = (cid: string) =>
  queryOptions({
    queryKey: ["value", cid],
    queryFn: () => bodyOf(api.GET("/api/cid/{cid}/preview", { params: { path: { cid } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });

export const valueCallsQuery = (cid: string) =>
  queryOptions({
    queryKey: ["value-calls", cid],
    queryFn: () =>
      bodyOf(api.GET("/api/cid/{cid}/calls", { params: { path: { cid }, query: { limit: 20 } } })),
  });

export const comparisonQuery = (left: string, right: string) =>
  queryOptions({
    queryKey: ["comparison", left, right],
    queryFn: () => bodyOf(api.GET("/api/diff", { params: { query: { left, right } } })),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** The call of the same function before this one, with all that is known of it. */
export const previousCallQuery = (call: { call_id: string; session_id: string; name: string }) =>
  queryOptions({
    queryKey: ["previous-call", call.call_id],
    queryFn: async () => {
      const query = { function: call.name, session: call.session_id, before: call.call_id, limit: 1 };
      const found = (await bodyOf(api.GET("/api/calls", { params: { query } }))).calls[0];
      if (!found) return null;
      return bodyOf(api.GET("/api/calls/{call_id}", { params: { path: { call_id: found.call_id } } }));
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
