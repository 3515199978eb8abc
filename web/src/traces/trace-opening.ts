import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { type TraceReport, traceQuery, useNewTrace } from "./trace-queries";

/** Record something, and open what was recorded: the call that was asked for, else all of the recording. */
export function useRecording() {
  const client = useQueryClient();
  const navigate = useNavigate();
  const open = async (report: TraceReport) => {
    const trace = await client.fetchQuery(traceQuery(report.trace_id));
    const id = trace.trace_id;
    const calls = trace.calls ?? [];
    const call = calls.find(({ index, function: name }) => index === report.call && name === report.function);
    if (call) await navigate({ to: "/traces/$id/calls/$key", params: { id, key: call.key } as never });
    else if (calls.length || trace.tree?.length)
      await navigate({ to: "/traces/$id", params: { id } as never });
  };
  return useNewTrace(open);
}
