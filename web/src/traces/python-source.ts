import { pythonLanguage } from "@codemirror/lang-python";
import { classHighlighter, highlightCode } from "@lezer/highlight";

/** A piece of a line in one colour. */
export interface Piece {
  text: string;
  /** Classes such as `tok-keyword`; empty for plain text. */
  look: string;
}

export interface SourceLine {
  number: number;
  pieces: Piece[];
  /** How far it is indented; null if it has no code. */
  indent: number | null;
  /** Lines before it are missing. */
  isAfterGap: boolean;
}

/** The source of a function, as far as a recording has it. */
export interface Source {
  lines: SourceLine[];
  /** The line of `def`; of other code the first one. */
  head: number;
  /** Lines that run together with another one: the further lines of a statement, `else:`, `try:`. */
  owners: ReadonlyMap<number, number>;
}

/** Read source that is given by line numbers. What all lines are indented by is left out. */
export function readSource(source: Record<string, string>): Source {
  const numbers = Object.keys(source)
    .map(Number)
    .sort((a, b) => a - b);
  const texts = removeIndent(numbers.map((number) => (source[number] ?? "").replace(/[\r\n]+$/, "")));
  const pieces = colour(texts.join("\n"));
  const lines = numbers.map((number, index) => ({
    number,
    pieces: pieces[index] ?? [],
    indent: measureIndent(texts[index] ?? ""),
    isAfterGap: index > 0 && number !== (numbers[index - 1] as number) + 1,
  }));
  return { lines, head: numbers[findHead(texts)] ?? 0, owners: findOwners(texts, numbers) };
}

/** What stands before `def` are decorators. */
const findHead = (texts: string[]): number =>
  texts[0]?.startsWith("@") ? texts.findIndex((text) => /^(async\s+)?(def|class)\b/.test(text)) : 0;

const measureIndent = (text: string): number | null => {
  const code = text.trimStart();
  return code === "" || code.startsWith("#") ? null : text.length - code.length;
};

function removeIndent(texts: string[]): string[] {
  const indents = texts.map(measureIndent).filter((indent) => indent !== null);
  const least = indents.length ? Math.min(...indents) : 0;
  return texts.map((text) => (text.slice(0, least).trim() === "" ? text.slice(least) : text));
}

function colour(text: string): Piece[][] {
  const lines: Piece[][] = [[]];
  highlightCode(
    text,
    pythonLanguage.parser.parse(text),
    classHighlighter,
    (piece, look) => lines.at(-1)?.push({ text: piece, look }),
    () => lines.push([]),
  );
  return lines;
}

const OPENER = /^\s*(else|try|finally)\s*:\s*(#.*)?$/;

function findOwners(texts: string[], numbers: number[]): Map<number, number> {
  const owners = new Map<number, number>();
  const own = (from: number, to: number, owner: number) => {
    for (let index = from; index <= to; index++) owners.set(numbers[index] ?? 0, numbers[owner] ?? 0);
  };
  for (const [first, last] of listStatements(texts)) if (last > first) own(first + 1, last, first);
  for (const [index, text] of texts.entries()) {
    if (!OPENER.test(text)) continue;
    const next = texts.findIndex((other, at) => at > index && measureIndent(other) !== null);
    if (next > 0) own(index, index, next);
  }
  return owners;
}

/** The first and the last line of every statement; of one with a body those of its head. */
function listStatements(texts: string[]): [number, number][] {
  const text = texts.join("\n");
  const starts = [0];
  for (const line of texts) starts.push((starts.at(-1) as number) + line.length + 1);
  const lineAt = (position: number) => starts.findLastIndex((start) => start <= position);
  const found: [number, number][] = [];
  pythonLanguage.parser.parse(text).iterate({
    enter: ({ name, node }) => {
      if (!/(Statement|Definition|Clause)$/.test(name) || name === "DecoratedStatement") return;
      let from = node.from;
      let hasBody = false;
      for (let child = node.firstChild; child; child = child.nextSibling) {
        if (!child.name.endsWith("Body")) continue;
        hasBody = true;
        found.push([lineAt(from), lineAt(child.from)]);
        from = child.nextSibling?.from ?? child.to;
      }
      if (!hasBody) found.push([lineAt(node.from), lineAt(node.to)]);
    },
  });
  return found;
}

/** The lines in the body of what begins at a line: those below it that are indented further. */
export function listBody({ lines, owners }: Source, head: number): ReadonlySet<number> {
  const start = lines.findIndex((line) => line.number === head);
  const indent = lines[start]?.indent;
  if (indent === undefined || indent === null) return new Set();
  const below = lines.slice(start + 1);
  const end = below.findIndex(
    (line) => line.indent !== null && line.indent <= indent && owners.get(line.number) !== head,
  );
  return new Set((end < 0 ? below : below.slice(0, end)).map((line) => line.number));
}
