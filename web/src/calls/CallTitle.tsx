import { Link } from "@tanstack/react-router";

import { type Call, formatArguments, nameCall } from "./call-texts";
import { InlineMark } from "./InlineHelp";

/** `Shop.sell('ann', …)`, with its alias and whether it is an inline call. */
export function CallTitle({ call }: { call: Call }) {
  return (
    <span className="call-title mono cut">
      {call.alias ? <span className="soft">{call.alias} · </span> : null}
      {nameCall(call)}
      <span className="soft">({formatArguments(call)})</span>
      {call.call_type === "inline" ? <InlineMark /> : null}
    </span>
  );
}

/** Where a held call is decided. */
export function HoldLink({ call }: { call: Call }) {
  if (!call.hold_id) return null;
  return (
    <Link
      to={"/holds/$id" as string}
      params={{ id: call.hold_id } as never}
      className="status held"
      aria-label={`held: decide ${nameCall(call)}`}
    >
      held
    </Link>
  );
}
