import type { Schemas } from "../api/client";

export type HeldCallHold = Schemas["CallHoldDetail"];
export type HeldArgument = Schemas["HeldArgument"];
export type Decision = Schemas["HoldDecision"] & { action: string };
/** The texts that differ from what the call has, by the name of the argument. */
export type Edits = Record<string, string>;

export type AnyHold = { kind: string } | HeldCallHold;

export const isHeldCall = (hold: AnyHold | undefined): hold is HeldCallHold =>
  hold?.kind === "calls" && "arguments" in hold;

/** The text in the box of an argument at first. */
export const textOf = (argument: HeldArgument): string => argument.literal ?? argument.text;

/** The edits after a box was changed; a text that is as before is no edit. */
export function changeEdit(edits: Edits, argument: HeldArgument, text: string): Edits {
  const { [argument.name]: _, ...others } = edits;
  return text === textOf(argument) ? others : { ...others, [argument.name]: text };
}

/**
 * The decision to go on, with the edits if there are any. Values go as text: a number that went through
 * JavaScript would come back as another (`4.0` as `4`).
 */
export function buildContinue(edits: Edits): Decision {
  const names = Object.keys(edits);
  if (!names.length) return { action: "continue" };
  const positional: (Schemas["DecidedValue"] | null)[] = [];
  const named: Record<string, Schemas["DecidedValue"]> = {};
  for (const name of names) {
    const value = { text: edits[name] as string };
    const place = /^args\[(\d+)\]$/.exec(name)?.[1]; // the function has no names for its parameters
    if (place === undefined) named[name] = value;
    else positional[Number(place)] = value;
  }
  const args = Array.from(positional, (value) => value ?? null);
  return {
    action: "modify",
    ...(args.length ? { modified_args: args } : {}),
    ...(Object.keys(named).length ? { modified_kwargs: named } : {}),
  };
}

/** What a hold waits for, in words. */
export function describeMoment(when: string): string {
  if (when === "after") return "It has returned; its caller has not got the result yet.";
  if (when === "exception") return "It has raised; its caller has not got the exception yet.";
  return "It has not run yet.";
}
