/** Cut a command line into words, as a shell does, without running anything of it. */
export function splitWords(line: string): string[] {
  const words: string[] = [];
  for (const [whole] of line.matchAll(/(?:[^\s'"\\]|\\.|'[^']*'|"(?:[^"\\]|\\.)*")+/g)) {
    words.push(
      whole.replace(/'([^']*)'|"((?:[^"\\]|\\.)*)"|\\(.)/g, (_, single, double, escaped) =>
        single !== undefined ? single : double !== undefined ? double.replace(/\\(["\\$`])/g, "$1") : escaped,
      ),
    );
  }
  return words;
}

const PLAIN = /^[\w@%+=:,./-]+$/;

/** A word as a shell reads it back. */
export const quoteWord = (word: string): string =>
  PLAIN.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;

export const joinWords = (words: string[]): string => words.map(quoteWord).join(" ");
