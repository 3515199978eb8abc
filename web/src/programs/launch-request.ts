import type { Schemas } from "../api/client";

type LaunchOptions = Schemas["LaunchOptions"];

/** What the form asks: texts, as one types them in a shell. */
export interface LaunchFields {
  kind: "script" | "module" | "tests";
  target: string;
  args: string;
  cwd: string;
  python: string;
  breakAt: string;
  stopOnEntry: boolean;
}

export const emptyLaunch: LaunchFields = {
  kind: "script",
  target: "",
  args: "",
  cwd: "",
  python: "",
  breakAt: "",
  stopOnEntry: false,
};

/** The words of a command line, with quotes and backslashes as a shell has them. */
export function splitWords(line: string): string[] {
  const words = line.matchAll(/(?:[^\s"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')+/gs);
  return [...words].map(([word]) =>
    word.replace(/\\(.)|"((?:[^"\\]|\\.)*)"|'([^']*)'/gs, (_, escaped, double, single) =>
      escaped !== undefined ? escaped : double !== undefined ? double.replace(/\\(["\\])/g, "$1") : single,
    ),
  );
}

/** Words as a command line from which `splitWords` gets the same words. */
export const joinWords = (words: string[]): string =>
  words
    .map((word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`))
    .join(" ");

/** The places in `orders.py:12, shop.py:3`. It throws if one has no line. */
export function parsePlaces(text: string): { file: string; line: number }[] {
  const places = text.split(/[,\n]/).map((part) => part.trim());
  return places.filter(Boolean).map((place) => {
    const found = /^(.+):(\d+)$/.exec(place);
    if (!found) throw new Error(`“${place}” is no place. Write a file and a line, as orders.py:12.`);
    return { file: found[1] ?? "", line: Number(found[2]) };
  });
}

/** The request that makes a session and launches it at once. */
export function makeLaunchRequest(fields: LaunchFields) {
  const { kind, target, args, cwd, python, breakAt, stopOnEntry } = fields;
  const words = splitWords(args);
  const what =
    kind === "script"
      ? { script: target.trim(), args: words }
      : kind === "module"
        ? { module: target.trim(), args: words }
        : { module: "pytest", args: [...splitWords(target), ...words] };
  const launch = {
    ...what,
    stop_on_entry: stopOnEntry,
    ...(python.trim() ? { python_path: python.trim() } : {}),
  };
  const breakpoints = parsePlaces(breakAt).map((place) => ({ ...place, enabled: true }));
  return {
    launch,
    ...(cwd.trim() ? { cwd: cwd.trim() } : {}),
    ...(breakpoints.length ? { breakpoints } : {}),
  };
}

/** A launch of before, as the form shows it. */
export function readLaunch(launch: LaunchOptions): LaunchFields {
  const args = launch.args ?? [];
  const isTests = launch.module === "pytest";
  return {
    ...emptyLaunch,
    kind: isTests ? "tests" : launch.module ? "module" : "script",
    target: isTests ? joinWords(args.slice(0, 1)) : (launch.module ?? launch.script ?? ""),
    args: joinWords(isTests ? args.slice(1) : args),
    cwd: launch.cwd ?? "",
    python: launch.python_path ?? "",
    stopOnEntry: launch.stop_on_entry ?? false,
  };
}
