import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { formatRounds, type RoundChoice } from "./loop-rounds";
import { type TraceCall, traceCallQuery, traceQuery, useWhyAgain, type WhyQuestion } from "./trace-queries";
import { writeWhy } from "./why-question";
import { findStep } from "./why-steps";

/** The call that is looked at, and the rounds of its loops. */
export interface ShownCall {
  call: TraceCall;
  rounds: RoundChoice;
}

/**
 * Runs a program again, records all of it, and asks there. A question about what is looked at is asked about the
 * same call and round of the new run; if they were not kept, the new recording is opened without a question.
 */
export function useAnswerOfAnotherRun(trace: string, shown: ShownCall | undefined) {
  const client = useQueryClient();
  const navigate = useNavigate();

  const openTrace = (id: string, search: Record<string, string>) =>
    navigate({ to: "/traces/$id", params: { id } as never, search: search as never });

  const openSameCall = async (id: string, question: WhyQuestion, { call, rounds }: ShownCall) => {
    const { calls = [] } = await client.fetchQuery(traceQuery(id));
    const same = calls.find(
      ({ file, line, index }) => file === call.file && line === call.first_line && index === call.index,
    );
    if (!same) return openTrace(id, {});
    const { entries } = await client.fetchQuery(traceCallQuery(id, same.key));
    const line = question.at.slice(question.at.lastIndexOf(":") + 1);
    const hit = findStep(entries, rounds, Number(line), question.variable)?.hit;
    return navigate({
      to: "/traces/$id/calls/$key" as string,
      params: { id, key: same.key } as never,
      search: {
        line,
        ...(rounds.size ? { rounds: formatRounds(rounds) } : {}),
        ...(hit ? writeWhy({ ...question, hit }) : {}),
      } as never,
    });
  };

  return useWhyAgain(trace, (id, question) =>
    question.hit || !shown ? openTrace(id, writeWhy(question)) : openSameCall(id, question, shown),
  );
}
