import type { Schemas } from "../api/client";
import { findMember, isJson, readString, setMember } from "./json-text";

/** A message that somebody edits: its text alone, or all of it as JSON. */
export interface MessageDraft {
  key: number;
  role: string;
  text: string;
  /** The whole message, as it was recorded; its role and text are put into it. */
  json: string;
  isJson: boolean;
}

let lastKey = 0;

export function draftMessage(message: Schemas["StepMessage"]): MessageDraft {
  lastKey += 1;
  const content = readString(findMember(message.json, "content") ?? "");
  return {
    key: lastKey,
    role: readString(findMember(message.json, "role") ?? "") ?? message.role,
    text: content ?? "",
    json: message.json,
    isJson: content === null,
  };
}

export function draftNewMessage(): MessageDraft {
  lastKey += 1;
  return { key: lastKey, role: "user", text: "", json: "{}", isJson: false };
}

/** A draft as the JSON of a message. */
export function writeMessage(draft: MessageDraft): string {
  if (draft.isJson) return draft.json;
  const named = setMember(draft.json, "role", JSON.stringify(draft.role));
  return setMember(named, "content", JSON.stringify(draft.text));
}

/** The same draft, edited in the other way. */
export function switchDraft(draft: MessageDraft): MessageDraft {
  if (!draft.isJson) return { ...draft, json: writeMessage(draft), isJson: true };
  const content = readString(findMember(draft.json, "content") ?? "");
  const role = readString(findMember(draft.json, "role") ?? "") ?? draft.role;
  return content === null ? draft : { ...draft, role, text: content, isJson: false };
}

/** What is wrong with some drafts, as a sentence. */
export function findProblem(drafts: MessageDraft[]): string | null {
  const index = drafts.findIndex((draft) => draft.isJson && !isJson(draft.json));
  return index < 0 ? null : `Message ${index + 1} is not JSON: mend it, or remove it.`;
}

export const isSame = (drafts: MessageDraft[], messages: Schemas["StepMessage"][]): boolean =>
  drafts.length === messages.length &&
  drafts.every((draft, index) => {
    const written = writeMessage(draft);
    const given = (messages[index] as Schemas["StepMessage"]).json;
    return (
      written === given || written === writeMessage(draftMessage(messages[index] as Schemas["StepMessage"]))
    );
  });
