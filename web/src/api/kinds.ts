import type { Schemas } from "./client";

/** Sessions and holds of the three kinds of target. */
export type Session = Schemas["SessionList"]["sessions"][number];
export type Hold = Schemas["HoldList"]["holds"][number];

/** The address of a session's own view. */
export function linkToSession(session: { kind: string; session_id: string }): LinkTarget {
  if (session.kind === "program") return { to: "/programs/$id", params: { id: session.session_id } };
  if (session.kind === "agent") return { to: "/agents/$id", params: { id: session.session_id } };
  return { to: "/calls", search: { session: session.session_id } };
}

/** The address where a hold is decided. */
export function linkToHold(hold: { kind: string; session_id: string; hold_id: string }): LinkTarget {
  return hold.kind === "calls" ? { to: "/holds/$id", params: { id: hold.hold_id } } : linkToSession(hold);
}

export interface LinkTarget {
  to: string;
  params?: Record<string, string>;
  search?: Record<string, string>;
}
