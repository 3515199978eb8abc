import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { api, bodyOf, type Schemas } from "../api/client";

export type Trace = Schemas["Trace"];
export type TraceSummary = Schemas["TraceSummary"];
export type TraceCall = Schemas["TraceCall"];
export type RecordedCall = Schemas["RecordedCall"];
export type TraceWhy = Schemas["TraceWhy"];
export type WhyStatement = Schemas["WhyStatement"];
export type TraceReport = Schemas["TraceReport"];

/** All recordings. The key makes them stale when a session changes, because a run leaves one. */
export const tracesQuery = queryOptions({
  queryKey: ["sessions", "traces"],
  queryFn: () => bodyOf(api.GET("/api/traces", { params: { query: { limit: 200 } } })),
});

export const traceQuery = (trace_id: string) =>
  queryOptions({
    queryKey: ["trace", trace_id],
    queryFn: () => bodyOf(api.GET("/api/traces/{trace_id}", { params: { path: { trace_id } } })),
  });

export const traceCallQuery = (trace_id: string, key: string) =>
  queryOptions({
    queryKey: ["trace", trace_id, "call", key],
    queryFn: () =>
      bodyOf(api.GET("/api/traces/{trace_id}/calls/{key}", { params: { path: { trace_id, key } } })),
  });

/** A question where a value came from: what it was before a line ran for the `hit`th time. */
export interface WhyQuestion {
  variable: string;
  at: string;
  /** Counted over all calls. 0: the time that is looked at, where nobody has counted. */
  hit: number;
  /** The value after the line ran is meant. */
  after: boolean;
}

/** Stands for a variable in a question about the exception that ended the run. No variable is called so. */
export const EXCEPTION = "raise";

/** The answer from a recording. Nothing is run for it. */
export const whyQuery = (trace_id: string, question: WhyQuestion) =>
  queryOptions({
    queryKey: ["trace", trace_id, "why", question],
    queryFn: () =>
      bodyOf(
        api.GET("/api/traces/{trace_id}/why", {
          params: { path: { trace_id }, query: question.variable === EXCEPTION ? {} : question },
        }),
      ),
    staleTime: Number.POSITIVE_INFINITY,
  });

/** Run the program again, and record all of its own code. */
export function useWhyAgain(trace: string, onDone: (id: string, question: WhyQuestion) => Promise<void>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ variable, at, hit }: WhyQuestion) => {
      const asked = variable === EXCEPTION ? {} : { variable, at, hit: hit || 1 };
      return bodyOf(
        api.POST("/tools/debug_why", {
          params: { query: { client: "page" } },
          body: { trace, again: true, ...asked } as Schemas["DebugWhy"],
        }),
      );
    },
    onSuccess: ({ trace_id }, question) => onDone(trace_id, question),
    onSettled: () => client.invalidateQueries({ queryKey: tracesQuery.queryKey }),
  });
}

/** Where a recording has a value, in words. */
export const findQuery = (trace: string, find: string) =>
  queryOptions({
    queryKey: ["trace", trace, "find", find],
    queryFn: () => postTrace({ trace, find, budget_tokens: FIND_BUDGET }),
    enabled: find !== "",
  });

const FIND_BUDGET = 8_000;

const postTrace = (body: Partial<Schemas["DebugTrace"]>) =>
  bodyOf(
    api.POST("/tools/debug_trace", {
      params: { query: { client: "page" } },
      body: body as Schemas["DebugTrace"],
    }),
  );

/** Run a program and record what the request says. */
export function useNewTrace(onDone: (report: TraceReport) => Promise<void>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: postTrace,
    onSuccess: onDone,
    onSettled: () => client.invalidateQueries({ queryKey: tracesQuery.queryKey }),
  });
}

export function useTraceDeletion(onDone: () => void) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (trace_id: string) =>
      bodyOf(api.DELETE("/api/traces/{trace_id}", { params: { path: { trace_id } } })),
    onSuccess: onDone,
    onSettled: () => client.invalidateQueries({ queryKey: tracesQuery.queryKey }),
  });
}
