import { keepPreviousData, queryOptions, useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import { api, bodyOf, type Schemas } from "../api/client";
import { eventStream } from "../live/event-stream";
import { listStaleKeys } from "../live/query-refresh";
import { CalmRefresh } from "./flame-refresh";
import { arrangeTimeline, type Timeline } from "./flame-timeline";
import type { Span } from "./flame-window";

/** As many calls as one answer brings. */
export const MOST_CALLS = 100_000;

/** The calls of one answer, and what it says about those that are not in it. */
export interface LoadedCalls {
  timeline: Timeline;
  /** The range that was asked for, in milliseconds since the epoch; null for the newest calls. */
  range: Span | null;
  total: number;
  isCut: boolean;
  lookedAt: number;
  undecided: number;
  reasons: Schemas["UndecidedCondition"][];
}

/*
 * The first part of the key is not "calls": what the stream makes stale is asked for at once, ten times a
 * second, and an answer of 100,000 calls takes longer than that. `useLoadedCalls` refreshes it calmly.
 */
const timelineQuery = (session: string, filter: string, range: Span | null) =>
  queryOptions({
    queryKey: ["timeline", session, filter, range],
    queryFn: ({ signal }) => readCalls(session, filter, range, signal),
    structuralSharing: false, // to compare a hundred thousand calls takes longer than to draw them
    placeholderData: keepPreviousData,
    gcTime: 30_000,
  });

async function readCalls(
  session: string,
  filter: string,
  range: Span | null,
  signal: AbortSignal,
): Promise<LoadedCalls> {
  const query = {
    limit: MOST_CALLS,
    ...(session ? { session } : {}),
    ...(filter ? { filter } : {}),
    ...(range ? { from: range.from / 1000, to: range.to / 1000 } : {}),
  };
  const answer = await bodyOf(api.GET("/api/calls/timeline", { params: { query }, signal }));
  return {
    timeline: arrangeTimeline(answer),
    range,
    total: answer.total,
    isCut: answer.cut,
    lookedAt: answer.looked_at,
    undecided: answer.undecided,
    reasons: answer.condition_errors ?? [],
  };
}

/** The calls of a range, read again when there are more. */
export function useLoadedCalls(session: string, filter: string, range: Span | null) {
  const query = useQuery(timelineQuery(session, filter, range));
  const { refetch } = query;
  useEffect(() => {
    const refresh = new CalmRefresh(() => refetch({ cancelRefetch: false }));
    const stop = eventStream.listen((message) => {
      if (listStaleKeys(message).some((key) => key[0] === "calls")) refresh.tell();
    });
    return () => {
      stop();
      refresh.close();
    };
  }, [refetch]);
  return query;
}
