import { useNavigate } from "@tanstack/react-router";

import { formatRounds, parseRounds } from "./loop-rounds";
import type { WhyStatement } from "./trace-queries";

type Address = Record<string, string | undefined>;

/** Opens the call and the rounds in which a statement ran, at its line. The question stays. */
export function useStatementOpening(trace: string, shownCall?: string): (statement: WhyStatement) => void {
  const navigate = useNavigate();
  return ({ call, line, rounds = {} }) => {
    if (call === undefined) return;
    const search = ({ why, at, hit, after, rounds: before = "" }: Address): Address => {
      const choice = new Map(call === shownCall ? parseRounds(before) : []);
      for (const [loop, round] of Object.entries(rounds)) choice.set(Number(loop), round);
      const next: Address = { why, at, hit, after, line: String(line), rounds: formatRounds(choice) };
      return Object.fromEntries(Object.entries(next).filter(([, value]) => value));
    };
    void navigate({
      to: "/traces/$id/calls/$key" as string,
      params: { id: trace, key: call } as never,
      search: search as never,
      resetScroll: call !== shownCall,
    });
  };
}
