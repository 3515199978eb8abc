import { Link, useNavigate } from "@tanstack/react-router";

import { useCommand } from "../ui/commands";
import { formatCount, formatPlace } from "../ui/format";
import { KeyHint, Status } from "../ui/parts";
import { shortName } from "./recorded-places";
import type { TraceCall } from "./trace-queries";

/** Which call this is, how it ended, and the way to the calls around it. */
export function CallHeader({ call }: { call: TraceCall }) {
  const trace = call.trace_id;
  return (
    <header className="trace-head">
      <h1 className="mono">{shortName(call.function, call.file)}</h1>
      <span>call {formatCount(call.index)}</span>
      <Status of={call.outcome} />
      <span className="soft mono" title={call.file}>
        {formatPlace({ file: call.file, line: call.first_line })}
      </span>
      <nav className="actions" aria-label="Calls around this one">
        <WayButton trace={trace} label="Previous call" shortcut="p" to={call.previous} keepsLine />
        <WayButton trace={trace} label="Next call" shortcut="n" to={call.next} keepsLine />
        <WayButton trace={trace} label="Caller" shortcut="u" to={call.parent} />
        <Link className="button" to={"/traces/$id" as string} params={{ id: trace } as never}>
          All calls
        </Link>
      </nav>
    </header>
  );
}

interface WayButtonProps {
  trace: string;
  label: string;
  shortcut: string;
  /** The key of the call; left out if there is none there. */
  to: string | undefined;
  /** Whether the chosen line and rounds make sense there, too. */
  keepsLine?: boolean;
}

function WayButton({ trace, label, shortcut, to, keepsLine = false }: WayButtonProps) {
  const navigate = useNavigate();
  const go = () =>
    void navigate({
      to: "/traces/$id/calls/$key" as string,
      params: { id: trace, key: to } as never,
      search: (({ line, rounds }: Record<string, string>) =>
        keepsLine ? { ...(line ? { line } : {}), ...(rounds ? { rounds } : {}) } : {}) as never,
    });
  useCommand(`Go to: ${label.toLowerCase()}`, shortcut, go, to !== undefined);
  return (
    <button type="button" disabled={to === undefined} onClick={go}>
      {label} <KeyHint of={shortcut} />
    </button>
  );
}
