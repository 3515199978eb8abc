import type { Variable } from "./program-state";

const LONGEST = 40;
const MOST = 4;

/** The values of the variables that a line names, to be shown after it. */
export function listLineValues(line: string, locals: Variable[]): string {
  const names = new Set(line.replace(/#.*$/, "").match(/(?<![.\w"'])[A-Za-z_]\w*/g) ?? []);
  return locals
    .filter(({ name, value, type }) => name && names.has(name) && value && !isCode(type))
    .slice(0, MOST)
    .map(({ name, value }) => `${name} = ${shorten(value ?? "")}`)
    .join("   ");
}

const isCode = (type: string | undefined) =>
  type !== undefined && ["module", "function", "type", "builtin_function_or_method"].includes(type);

const shorten = (text: string) => {
  const line = text.split("\n", 1)[0] ?? "";
  return line.length < text.length || line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
};
