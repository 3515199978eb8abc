import { queryOptions } from "@tanstack/react-query";

import { api, bodyOf } from "./client";

/*
 * The keys of queries: `["sessions"]`, `["session", id, …]`, `["holds", …]`, `["calls", …]`. The event
 * stream invalidates them by their first parts (`live/query-refresh.ts`).
 */

export const sessionsQuery = queryOptions({
  queryKey: ["sessions"],
  queryFn: () => bodyOf(api.GET("/sessions")),
});

export const holdsQuery = queryOptions({
  queryKey: ["holds"],
  queryFn: () => bodyOf(api.GET("/api/holds")),
});

export const sessionQuery = (id: string) =>
  queryOptions({
    queryKey: ["session", id],
    queryFn: () => bodyOf(api.GET("/sessions/{session_id}", { params: { path: { session_id: id } } })),
  });

export const holdQuery = (id: string) =>
  queryOptions({
    queryKey: ["holds", id],
    queryFn: () => bodyOf(api.GET("/api/holds/{hold_id}", { params: { path: { hold_id: id } } })),
  });
