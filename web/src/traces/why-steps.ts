import type { RoundChoice } from "./loop-rounds";
import { pickRound } from "./loop-rounds";
import { chooseFirst, type Entry } from "./traced-pass";

/** A statement in the order in which all of them ran. */
interface OrderedStep {
  line: number;
  /** Whether it is in the rounds that are looked at. */
  isShown: boolean;
}

/** Everything that ran, in order; null stands where something was not kept. */
function* listSteps(entries: Entry[], choice: RoundChoice, isShown: boolean): Generator<OrderedStep | null> {
  for (const { line, loop } of entries) {
    if (!loop) {
      yield { line, isShown };
      continue;
    }
    const shown = pickRound(loop, choice.get(line) ?? chooseFirst(loop));
    let expected = 1;
    for (const round of loop.rounds ?? []) {
      if (round.number !== expected || !round.entries?.length) yield null;
      expected = round.number + 1;
      yield* listSteps(round.entries ?? [], choice, isShown && round === shown);
    }
    if (expected !== loop.iterations + 1) yield null;
  }
}

/** A line, and for which time it runs. */
export interface Moment {
  line: number;
  hit: number;
}

/**
 * The moment just after a line ran in the shown rounds: when the statement that ran next was about to run. Null
 * if the line was the last one, or if what ran before was not kept whole, so that nobody can count it.
 */
export function findMomentAfter(entries: Entry[], choice: RoundChoice, line: number): Moment | null {
  const hits = new Map<number, number>();
  let after: Moment | null = null;
  let wasThere = false;
  for (const step of listSteps(entries, choice, true)) {
    if (step === null) return after; // what was found before it was counted right
    const hit = (hits.get(step.line) ?? 0) + 1;
    hits.set(step.line, hit);
    if (wasThere) after = { line: step.line, hit };
    wasThere = step.isShown && step.line === line;
  }
  return wasThere ? null : after;
}
