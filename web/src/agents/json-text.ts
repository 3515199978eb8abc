/*
 * JSON as text, cut into its parts. Numbers of Python never become numbers of JavaScript here, so `4.0`
 * stays `4.0` and a long integer keeps all its digits.
 */

/** A member of a JSON object: its name, and its value as it was written. */
export interface JsonMember {
  name: string;
  text: string;
}

/** The members of a JSON object; null if the text is none. */
export function splitObject(text: string): JsonMember[] | null {
  const parts = splitParts(text, "{", "}");
  const members = parts?.map(splitMember);
  return members?.every((member) => member !== null) ? members : null;
}

/** The items of a JSON array, as they were written; null if the text is none. */
export const splitArray = (text: string): string[] | null => splitParts(text, "[", "]");

/** The value of a member of a JSON object, as it was written. */
export const findMember = (text: string, name: string): string | null =>
  splitObject(text)?.find((member) => member.name === name)?.text ?? null;

/** The same object, with one member set to another value. */
export function setMember(text: string, name: string, value: string): string {
  const members = splitObject(text) ?? [];
  const isThere = members.some((member) => member.name === name);
  return joinObject(
    isThere
      ? members.map((member) => (member.name === name ? { name, text: value } : member))
      : [...members, { name, text: value }],
  );
}

export const joinObject = (members: JsonMember[]): string =>
  `{${members.map(({ name, text }) => `${JSON.stringify(name)}: ${text}`).join(", ")}}`;

/** The text in a JSON string; null if the text is something else. */
export function readString(text: string): string | null {
  if (!text.trim().startsWith('"')) return null;
  try {
    return JSON.parse(text) as string;
  } catch {
    return null;
  }
}

/** Whether a text is JSON. */
export function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

function splitParts(text: string, opening: string, closing: string): string[] | null {
  const inner = text.trim();
  if (!inner.startsWith(opening) || !inner.endsWith(closing) || !isJson(inner)) return null;
  const parts: string[] = [];
  let depth = 0;
  let from = 1;
  for (let index = 1; index < inner.length - 1; index += 1) {
    const letter = inner[index] as string;
    if (letter === '"') index = findStringEnd(inner, index);
    else if ("{[".includes(letter)) depth += 1;
    else if ("}]".includes(letter)) depth -= 1;
    else if (letter === "," && depth === 0) {
      parts.push(inner.slice(from, index).trim());
      from = index + 1;
    }
  }
  const last = inner.slice(from, -1).trim();
  return last ? [...parts, last] : parts;
}

function splitMember(text: string): JsonMember | null {
  const end = findStringEnd(text, 0) + 1;
  const colon = text.indexOf(":", end);
  const name = readString(text.slice(0, end));
  return name === null || colon < 0 ? null : { name, text: text.slice(colon + 1).trim() };
}

/** The place of the quote that ends a string. */
function findStringEnd(text: string, start: number): number {
  let index = start + 1;
  while (index < text.length && text[index] !== '"') index += text[index] === "\\" ? 2 : 1;
  return index;
}
