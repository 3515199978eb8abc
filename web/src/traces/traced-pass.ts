import type { Schemas } from "../api/client";
import { type Loop, pickRound, type Round, type RoundChoice } from "./loop-rounds";

export type Entry = Schemas["ShownEntry"];

/** A loop that ran, and the round of it that is looked at. */
export interface PassedLoop {
  line: number;
  loop: Loop;
  /** None, if it had none or none was kept. */
  round: Round | undefined;
  /** How many loops it is in. */
  depth: number;
}

/** What happened at one line. */
export interface LinePass {
  steps: Entry[];
  loops: PassedLoop[];
}

/** One way through a call: of every loop the one round that is looked at. */
export interface Pass {
  lines: ReadonlyMap<number, LinePass>;
  /** Lines that ran, also where no values of them were kept. */
  executed: ReadonlySet<number>;
  /** Loops of whose round only values were kept, and it is not known which of its lines ran. */
  unclear: ReadonlySet<number>;
}

/** Which round of a loop is shown if nobody chose one: the one that raised, else the first. */
export function chooseFirst(loop: Loop): number {
  const rounds = loop.rounds ?? [];
  const last = rounds.at(-1);
  const hasRaised = last && last.number === loop.iterations && endsByException(last.entries ?? []);
  return (hasRaised ? last : rounds[0])?.number ?? 1;
}

function endsByException(entries: Entry[]): boolean {
  const last = entries.at(-1);
  if (last?.loop) return endsByException(last.loop.rounds?.at(-1)?.entries ?? []);
  return last?.raised !== undefined;
}

/** Follow the chosen rounds through everything that ran. */
export function followPass(entries: Entry[], choice: RoundChoice): Pass {
  const lines = new Map<number, LinePass>();
  const executed = new Set<number>();
  const unclear = new Set<number>();
  const at = (line: number): LinePass => {
    executed.add(line);
    const known = lines.get(line) ?? { steps: [], loops: [] };
    lines.set(line, known);
    return known;
  };
  const followLoop = (line: number, loop: Loop, depth: number) => {
    const round = pickRound(loop, choice.get(line) ?? chooseFirst(loop));
    at(line).loops.push({ line, loop, round, depth });
    if (!round) return;
    if (round.entries?.length) follow(round.entries, depth + 1);
    else {
      for (const branch of round.path ?? []) executed.add(branch);
      const alike = findAlike(loop, round);
      if (alike) for (const known of listLines(alike.entries ?? [])) executed.add(known);
      else unclear.add(line);
    }
  };
  const follow = (passed: Entry[], depth: number) => {
    for (const entry of passed) {
      if (entry.loop) followLoop(entry.line, entry.loop, depth);
      else at(entry.line).steps.push(entry);
    }
  };
  follow(entries, 0);
  return { lines, executed, unclear };
}

/** A round with all its statements that took the same branches. The same lines ran in it. */
function findAlike(loop: Loop, round: Round): Round | undefined {
  const path = String(round.path ?? []);
  return loop.rounds?.find((other) => other.entries?.length && String(other.path ?? []) === path);
}

function listLines(entries: Entry[]): number[] {
  return entries.flatMap((entry) => [
    entry.line,
    ...(entry.loop?.rounds ?? []).flatMap((round) => listLines(round.entries ?? [])),
  ]);
}
