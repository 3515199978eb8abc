import type { Schemas } from "../api/client";
import type { RoundChoice } from "./loop-rounds";
import type { Entry, Pass } from "./traced-pass";

/** The rounds that are looked at, of every loop that is in sight. */
export const listShownRounds = (pass: Pass): RoundChoice =>
  new Map(
    [...pass.lines.values()]
      .flatMap(({ loops }) => loops)
      .flatMap(({ line, round }) => (round ? [[line, round.number] as const] : [])),
  );

/** What one asks for beside a change: `order.total`, if that is what it says. */
export function nameAsked({ name, text }: Schemas["ShownChange"]): string {
  const said = /^[\w.]+(?= = |: )/.exec(text)?.[0] ?? "";
  return said.startsWith(`${name}.`) ? said : name;
}

/** The execution of a line that changed a variable in these very rounds; nothing if it was not kept. */
export function findStep(
  entries: Entry[],
  rounds: RoundChoice,
  line: number,
  variable: string,
): Entry | undefined {
  for (const entry of entries) {
    if (!entry.loop) {
      if (entry.line === line && entry.changes?.some((change) => nameAsked(change) === variable))
        return entry;
      continue;
    }
    const round = entry.loop.rounds?.find(({ number }) => number === rounds.get(entry.line));
    const found = findStep(round?.entries ?? [], rounds, line, variable);
    if (found) return found;
  }
  return undefined;
}
