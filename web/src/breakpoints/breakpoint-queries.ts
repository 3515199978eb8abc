import { queryOptions } from "@tanstack/react-query";

import { api, bodyOf } from "../api/client";

export const callBreakpointsQuery = queryOptions({
  queryKey: ["breakpoints", "calls"],
  queryFn: () => bodyOf(api.GET("/api/breakpoints")),
});

export const functionsQuery = queryOptions({
  queryKey: ["functions"],
  queryFn: () => bodyOf(api.GET("/api/functions")),
});
