import type { Schemas } from "../api/client";

export type Loop = Schemas["ShownLoop"];
export type Round = Schemas["ShownRound"];

/** The rounds that somebody chose, by the line of their loop. */
export type RoundChoice = ReadonlyMap<number, number>;

/** Read `12.7~15.3`: of the loop at line 12 round 7, of the one at line 15 round 3. */
export function parseRounds(text: string): RoundChoice {
  const pairs = [...text.matchAll(/(\d+)\.(\d+)/g)];
  return new Map(pairs.map(([, line, round]) => [Number(line), Number(round)]));
}

export const formatRounds = (choice: RoundChoice): string =>
  [...choice].map(([line, round]) => `${line}.${round}`).join("~");

/** The position of the last kept round with this number or a smaller one; -1 if there is none. */
function findPosition(rounds: Round[], number: number): number {
  let low = 0;
  let high = rounds.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((rounds[middle] as Round).number <= number) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** The kept round that comes nearest to the chosen one. */
export function pickRound(loop: Loop, wanted: number): Round | undefined {
  const rounds = loop.rounds ?? [];
  const at = findPosition(rounds, wanted);
  const [below, above] = [rounds[at], rounds[at + 1]];
  if (!below || !above) return below ?? above;
  return wanted - below.number <= above.number - wanted ? below : above;
}

/** Where one gets from a round to another: rounds that were not kept are passed over. */
export function moveRound(loop: Loop, from: number, to: number): number {
  const rounds = loop.rounds ?? [];
  const at = findPosition(rounds, to);
  if (rounds[at]?.number === to) return to;
  const next = to > from ? (rounds[at + 1] ?? rounds.at(-1)) : (rounds[at] ?? rounds[0]);
  return next?.number ?? from;
}

const MOST_MARKS = 200;

/** The rounds with a remark, and where they are between the first (0) and the last round (1). */
export function listMarks(loop: Loop): { round: Round; at: number }[] {
  const unusual = (loop.rounds ?? []).filter((round) => round.remark);
  const marks = new Map<number, { round: Round; at: number }>();
  for (const round of unusual) {
    const at = (round.number - 1) / Math.max(1, loop.iterations - 1);
    const place = Math.round(at * MOST_MARKS); // no two marks cover each other
    if (!marks.has(place)) marks.set(place, { round, at });
  }
  return [...marks.values()];
}

/** The unusual rounds around one, for buttons: those before it and after it. */
export function findUnusual(loop: Loop, from: number): { before?: Round; after?: Round } {
  const unusual = (loop.rounds ?? []).filter((round) => round.remark);
  const before = unusual.findLast((round) => round.number < from);
  const after = unusual.find((round) => round.number > from);
  return { ...(before ? { before } : {}), ...(after ? { after } : {}) };
}
