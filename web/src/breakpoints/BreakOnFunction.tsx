import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";

import { api, bodyOf } from "../api/client";
import { type Call, nameCall } from "../calls/call-texts";
import { ProblemMessage } from "../ui/parts";
import { callBreakpointsQuery } from "./breakpoint-queries";

/** Hold the next call of a function that one looks at; or go to the breakpoint that does. */
export function BreakOnFunction({ call }: { call: Call }) {
  const client = useQueryClient();
  const name = nameCall(call);
  const points = useQuery(callBreakpointsQuery).data?.breakpoints ?? [];
  const known = points.find((point) => point.function === name && point.enabled);
  const added = useMutation({
    mutationFn: () => {
      const body = { function: name, ...(call.call_type === "inline" ? { call_type: "inline" } : {}) };
      return bodyOf(api.POST("/api/breakpoints", { body }));
    },
    onSettled: () => client.invalidateQueries({ queryKey: ["breakpoints"] }),
  });
  if (known) {
    return (
      <Link className="button" to="/breakpoints" search={{ edit: known.id } as never}>
        Breakpoint on {name}
      </Link>
    );
  }
  return (
    <>
      <button type="button" disabled={added.isPending} onClick={() => added.mutate()}>
        Break on this function
      </button>
      <ProblemMessage problem={added.error} />
    </>
  );
}
