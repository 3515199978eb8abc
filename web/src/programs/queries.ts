import { type QueryClient, queryOptions } from "@tanstack/react-query";

import { api, bodyOf } from "../api/client";
import { sessionQuery } from "../api/queries";
import { addOutput, emptyOutput, type OutputSoFar } from "./output-so-far";
import { isProgram, mergeState, type ProgramState } from "./program-state";

/*
 * What is read at a stop has the key `["stop", session, hold, …]`: it never changes until the hold is over,
 * and the request names the hold, so that nothing of the next stop can be taken for it.
 */
export const stopKey = (id: string, hold: string) => ["stop", id, hold] as const;
const atStop = { staleTime: Number.POSITIVE_INFINITY, gcTime: 30_000 };
export const PAGE = 100;

const ofSession = (id: string) => ({ session_id: id });

export const stackQuery = (id: string, hold: string, thread: number | undefined, count = PAGE) =>
  queryOptions({
    ...atStop,
    queryKey: [...stopKey(id, hold), "stack", thread ?? 0, count],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET("/sessions/{session_id}/stacktrace", {
          signal,
          params: { path: ofSession(id), query: { hold_id: hold, thread_id: thread ?? null, count } },
        }),
      ),
  });

export const localsQuery = (id: string, hold: string, frame: number, start = 0) =>
  queryOptions({
    ...atStop,
    queryKey: [...stopKey(id, hold), "locals", frame, start],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET("/sessions/{session_id}/frames/{frame_id}/variables", {
          signal,
          params: {
            path: { ...ofSession(id), frame_id: frame },
            query: { hold_id: hold, start, count: PAGE },
          },
        }),
      ),
  });

export const scopesQuery = (id: string, hold: string, frame: number) =>
  queryOptions({
    ...atStop,
    queryKey: [...stopKey(id, hold), "scopes", frame],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET("/sessions/{session_id}/frames/{frame_id}/scopes", {
          signal,
          params: { path: { ...ofSession(id), frame_id: frame }, query: { hold_id: hold } },
        }),
      ),
  });

export const itemsQuery = (id: string, hold: string, reference: number, start: number, count: number) =>
  queryOptions({
    ...atStop,
    queryKey: [...stopKey(id, hold), "items", reference, start],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET("/sessions/{session_id}/variables/{reference}", {
          signal,
          params: { path: { ...ofSession(id), reference }, query: { hold_id: hold, start, count } },
        }),
      ),
  });

export const threadsQuery = (id: string, hold: string) =>
  queryOptions({
    ...atStop,
    staleTime: hold ? atStop.staleTime : 0, // while it runs, they are elsewhere at each look
    queryKey: [...stopKey(id, hold), "threads"],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET("/sessions/{session_id}/threads", {
          signal,
          params: { path: ofSession(id), query: { hold_id: hold || null } },
        }),
      ),
  });

export const tasksQuery = (id: string, hold: string) =>
  queryOptions({
    ...atStop,
    staleTime: hold ? atStop.staleTime : 0, // while it runs, they are elsewhere at each look
    queryKey: [...stopKey(id, hold), "tasks"],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET("/sessions/{session_id}/tasks", {
          signal,
          params: { path: ofSession(id), query: { hold_id: hold || null } },
        }),
      ),
  });

/** Who waits for whom. */
export const deadlocksQuery = (id: string, hold: string) =>
  queryOptions({
    ...atStop,
    staleTime: hold ? atStop.staleTime : 0,
    queryKey: [...stopKey(id, hold), "deadlocks"],
    queryFn: ({ signal }) =>
      bodyOf(api.GET("/sessions/{session_id}/deadlocks", { signal, params: { path: ofSession(id) } })),
  });

export const breakpointsQuery = (id: string) =>
  queryOptions({
    queryKey: ["breakpoints", id],
    queryFn: () => bodyOf(api.GET("/sessions/{session_id}/breakpoints", { params: { path: ofSession(id) } })),
  });

/** The source of a file, as it was in a run of the program. */
export const sourceQuery = (id: string, path: string, run: number) =>
  queryOptions({
    queryKey: ["source", id, path, run],
    staleTime: 60_000,
    queryFn: () =>
      bodyOf(api.GET("/sessions/{session_id}/source", { params: { path: ofSession(id), query: { path } } })),
  });

/** All that the program wrote. Only what came since the last answer is asked for. */
export const outputQuery = (id: string, client: QueryClient) =>
  queryOptions({
    queryKey: ["output", id],
    structuralSharing: false,
    queryFn: async (): Promise<OutputSoFar> => {
      let output = client.getQueryData<OutputSoFar>(["output", id]) ?? emptyOutput;
      for (;;) {
        const page = await bodyOf(
          api.GET("/sessions/{session_id}/output", {
            params: { path: ofSession(id), query: { since: output.cursor, limit: 5_000 } },
          }),
        );
        output = addOutput(output, page);
        if (!page.has_more) return output;
      }
    },
  });

export const launchesQuery = queryOptions({
  queryKey: ["launches"],
  queryFn: () => bodyOf(api.GET("/api/launches", { params: { query: { limit: 12 } } })),
});

export const processesQuery = queryOptions({
  queryKey: ["processes"],
  queryFn: () => bodyOf(api.GET("/processes")),
});

/** Keep what an answer says: the session, and at a stop the stack and the locals that it brought. */
export async function keepState(client: QueryClient, id: string, state: ProgramState): Promise<void> {
  const { queryKey } = sessionQuery(id);
  await client.cancelQueries({ queryKey, exact: true }); // an older answer must not come after this one
  if (state.status === "paused" && state.hold_id) keepStop(client, id, state.hold_id, state);
  client.setQueryData(queryKey, (before) => (isProgram(before) ? mergeState(before, state) : before));
}

function keepStop(client: QueryClient, id: string, hold: string, state: ProgramState): void {
  const { stack, locals, thread_id = 0 } = state;
  if (stack) {
    const total = state.stack_total ?? stack.length;
    const page = { frames: stack, total, start: 0, has_more: total > stack.length, thread_id };
    client.setQueryData(stackQuery(id, hold, undefined).queryKey, page);
  }
  if (locals) {
    const total = state.locals_total ?? locals.length;
    const page = { variables: locals, total, has_more: total > locals.length };
    client.setQueryData(localsQuery(id, hold, 0).queryKey, page);
  }
}
