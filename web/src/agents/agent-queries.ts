import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { api, bodyOf, type Schemas } from "../api/client";
import type { Session } from "../api/kinds";
import type { Event } from "../live/event-stream";
import { findMember, type JsonMember, splitObject } from "./json-text";
import { type ReplayStep, readStep, STEP_TYPES } from "./replay-steps";

export type AgentSession = Extract<Session, { kind: "agent" }>;
export type AgentHold = Extract<Schemas["HoldList"]["holds"][number], { kind: "agent" }>;

/** How many turns a view has at first, and how many at most. */
export const FEW_TURNS = 200;
export const MOST_TURNS = 600;
const SHOWN_CHARS = 6_000;

const pathOf = (id: string) => ({ session_id: id });

export interface ConversationView {
  /** As it was at this event; null is now. */
  at: number | null;
  lane: string;
  /** The turns after this one; null is the newest. */
  after: number | null;
}

export const conversationQuery = (id: string, { at, lane, after }: ConversationView) =>
  queryOptions({
    // What was does not change, so no event makes it stale.
    queryKey: [at === null ? "session" : "recorded", id, "conversation", at, lane, after],
    staleTime: at === null ? 5_000 : Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
    queryFn: () =>
      bodyOf(
        api.GET("/sessions/{session_id}/conversation", {
          params: {
            path: pathOf(id),
            query: {
              limit: after === null ? FEW_TURNS : MOST_TURNS,
              max_chars: SHOWN_CHARS,
              ...(at === null ? {} : { at }),
              ...(lane ? { lane } : {}),
              ...(after === null ? {} : { after_turn: after }),
            },
          },
        }),
      ),
  });

/** All messages of a model call, to be edited. They may be too many for one answer. */
export const stepMessagesQuery = (id: string, iteration: number, lane: string) =>
  queryOptions({
    queryKey: ["recorded", id, "messages", iteration, lane],
    staleTime: 0,
    gcTime: 0,
    queryFn: async () => {
      const step = await readMessages(id, iteration, lane, 0);
      for (let page = step; page.has_more && page.messages.length; ) {
        page = await readMessages(id, iteration, lane, step.messages.length);
        if (page.seq !== step.seq) throw new Error("The call was made meanwhile. Try again.");
        step.messages.push(...page.messages);
      }
      return step;
    },
  });

const readMessages = (id: string, iteration: number, lane: string, first: number) =>
  bodyOf(
    api.GET("/sessions/{session_id}/messages", {
      params: { path: pathOf(id), query: { iteration, first, ...(lane ? { lane } : {}) } },
    }),
  );

export const comparisonQuery = (left: string, right: string) =>
  queryOptions({
    queryKey: ["compared", left, right],
    queryFn: () =>
      bodyOf(api.GET("/api/agents/compare", { params: { query: { left, right, limit: 5000 } } })),
    enabled: left !== "" && right !== "",
  });

/** A whole body of a recording. */
export const contentQuery = (id: string, cid: string) =>
  queryOptions({
    queryKey: ["recorded", id, "content", cid],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: () =>
      bodyOf(
        api.GET("/sessions/{session_id}/contents/{cid}", {
          params: { path: { ...pathOf(id), cid } },
          parseAs: "text",
        }) as Promise<{ data?: string }>,
      ),
  });

/**
 * The variables of a loop, each with its value as JSON. The agent itself is asked, which its recording
 * notes: so only once for every `moment`, and never because an event came.
 */
export const variablesQuery = (id: string, moment: string) =>
  queryOptions({
    queryKey: ["recorded", id, "variables", moment],
    staleTime: Number.POSITIVE_INFINITY,
    placeholderData: keepPreviousData,
    queryFn: async (): Promise<JsonMember[]> => {
      const answer = (await bodyOf(
        api.GET("/sessions/{session_id}/state", {
          params: { path: pathOf(id), query: { what: "all", live: true } },
          parseAs: "text",
        }) as Promise<{ data?: unknown }>,
      )) as string;
      const state = findMember(answer, "state") ?? "{}";
      return splitObject(findMember(state, "variables") ?? "{}") ?? [];
    },
  });

export interface AgentBreakpoint {
  id: string;
  on: string;
  [field: string]: unknown;
}

/** Its breakpoints. The agent is asked, so again only when somebody changes them here. */
export const breakpointsQuery = (id: string) =>
  queryOptions({
    queryKey: ["recorded", id, "breakpoints"],
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: async (): Promise<AgentBreakpoint[]> => {
      const answer = await sendCommand(id, { type: "breakpoint", data: { action: "list" } });
      const data = answer.response?.data as { breakpoints?: AgentBreakpoint[] } | undefined;
      return data?.breakpoints ?? [];
    },
  });

const STEPS_A_PAGE = 1_000;

/** The events that the time slider stops at. Those that are known are not read again. */
export const stepsQuery = (id: string, client: ReturnType<typeof useQueryClient>) =>
  queryOptions({
    queryKey: ["session", id, "steps"],
    structuralSharing: false,
    queryFn: async (): Promise<ReplayStep[]> => {
      const known = client.getQueryData<ReplayStep[]>(["session", id, "steps"]) ?? [];
      const found = [...known];
      for (;;) {
        const page = await bodyOf(
          api.GET("/sessions/{session_id}/events", {
            params: {
              path: pathOf(id),
              query: {
                since: String(found.at(-1)?.seq ?? 0),
                types: STEP_TYPES.join(","),
                limit: STEPS_A_PAGE,
              },
            },
          }),
        );
        found.push(...(page.events as Event[]).map(readStep));
        if (!page.has_more || !page.events.length) return found.length === known.length ? known : found;
      }
    },
  });

// -- what changes something ------------------------------------------------------------------------

export const sendCommand = (id: string, body: Schemas["AgentCommand"]) =>
  bodyOf(api.POST("/sessions/{session_id}/command", { params: { path: pathOf(id) }, body }));

/** Set a variable to a value in JSON, which is sent as it was written. */
export const setVariable = (id: string, key: string, value: string, lane?: string) =>
  bodyOf(
    api.POST("/sessions/{session_id}/command", {
      params: { path: pathOf(id) },
      body: { type: "set_variable", data: {} },
      bodySerializer: () => {
        const named = lane ? `, "lane": ${JSON.stringify(lane)}` : "";
        return `{"type": "set_variable", "data": {"key": ${JSON.stringify(key)}, "value": ${value}${named}}}`;
      },
    }),
  );

export type Decision = Omit<Schemas["HoldDecision"], "by">;

export const decide = (hold_id: string, decision: Decision) =>
  bodyOf(
    api.POST("/api/holds/{hold_id}/decision", {
      params: { path: { hold_id } },
      body: { ...decision, by: "page" } as never,
    }),
  );

export type Control = "pause" | "continue" | "step-over";

/** Do something with everything that an agent runs or holds. */
export function controlAgent(session_id: string, what: Control): Promise<unknown> {
  const options = { params: { path: { session_id } } };
  if (what === "pause")
    return bodyOf(api.POST("/sessions/{session_id}/pause", { ...options, body: { wait: 0 } }));
  if (what === "continue")
    return bodyOf(api.POST("/sessions/{session_id}/continue", { ...options, body: { by: "page" } }));
  return bodyOf(api.POST("/sessions/{session_id}/step-over", { ...options, body: { by: "page", wait: 0 } }));
}

/** Something that one does to an agent. What it makes stale is asked for again. */
export function useAgentAction<Input>(id: string, run: (input: Input) => Promise<unknown>) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: run,
    scope: { id: `agent ${id}` }, // keys that come while one is on its way wait for it
    onSettled: () =>
      Promise.all(
        [["session", id], ["holds"], ["sessions"]].map((queryKey) => client.invalidateQueries({ queryKey })),
      ),
  });
}
