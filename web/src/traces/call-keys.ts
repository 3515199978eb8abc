import { useCommand } from "../ui/commands";
import { moveRound } from "./loop-rounds";
import { listBody, type Source } from "./python-source";
import type { Pass, PassedLoop } from "./traced-pass";

/** `j` and `k` go to the next and the previous line that ran. */
export function useLineKeys(source: Source, pass: Pass, line: number, setLine: (line: number) => void): void {
  const ran = source.lines.map(({ number }) => number).filter((number) => pass.lines.has(number));
  const next = ran.find((number) => number > line);
  const previous = ran.findLast((number) => number < line);
  useCommand("Go to the next line that ran", "j", () => setLine(next ?? line), next !== undefined);
  useCommand(
    "Go to the previous line that ran",
    "k",
    () => setLine(previous ?? line),
    previous !== undefined,
  );
}

/** `[` and `]` change the round of the innermost loop around the chosen line. */
export function useRoundKeys(
  source: Source,
  pass: Pass,
  line: number,
  onRound: (loop: number, round: number) => void,
): void {
  const passed = findLoop(source, pass, line);
  const move = (by: number) => {
    if (!passed?.round) return;
    const from = passed.round.number;
    onRound(passed.line, moveRound(passed.loop, from, from + by));
  };
  const isPossible = passed?.round !== undefined;
  useCommand("Go to the previous round of the loop", "[", () => move(-1), isPossible);
  useCommand("Go to the next round of the loop", "]", () => move(1), isPossible);
}

/** The innermost loop around a line; without one, the first loop. */
function findLoop(source: Source, pass: Pass, line: number): PassedLoop | undefined {
  const loops = [...pass.lines.values()].flatMap((passed) => passed.loops);
  const around = loops.filter((passed) => passed.line === line || listBody(source, passed.line).has(line));
  return around.toSorted((a, b) => b.depth - a.depth)[0] ?? loops[0];
}
