import { useQuery } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";

import type { Schemas } from "../api/client";
import { EmptyState, Panel, ProblemMessage } from "../ui/parts";
import { parseTarget } from "./attach-target";
import { useLaunch } from "./launching";
import { processesQuery } from "./queries";

/** Attaches to a process of this machine, or to a debugpy that listens. */
export function AttachForm() {
  const [address, setAddress] = useState("");
  const { data, error, refetch } = useQuery(processesQuery);
  const processes = data?.processes.filter((each) => !isOurs(each)) ?? [];
  const launch = useLaunch();
  const attach = (event: FormEvent) => {
    event.preventDefault();
    launch.mutate(() => ({ mode: "attach", ...parseTarget(address) }));
  };
  const button = (
    <button type="button" className="quiet" onClick={() => void refetch()}>
      Look again
    </button>
  );
  return (
    <Panel title="Attach to a program that runs" aside={button}>
      <form className="one-line-form" onSubmit={attach}>
        <input
          className="mono"
          aria-label="Process id, or host and port"
          placeholder="4321, or localhost:5678"
          required
          value={address}
          onChange={(event) => setAddress(event.target.value)}
        />
        <button type="submit" disabled={launch.isPending}>
          Attach
        </button>
      </form>
      <ProblemMessage problem={error ?? launch.error} />
      {processes.length ? (
        <ul className="launches fill" aria-label="Python processes">
          {processes.map((each) => (
            <ProcessRow
              key={each.pid}
              of={each}
              onAttach={(target) => launch.mutate(() => ({ mode: "attach", ...target }))}
            />
          ))}
        </ul>
      ) : (
        <EmptyState command="python -m debugpy --listen 5678 main.py">
          No other Python process runs on this machine. One that waits to be attached to starts with
        </EmptyState>
      )}
    </Panel>
  );
}

/** Programs that are debugged already run in a process of ours, and so does what ends them. */
const isOurs = ({ cmdline }: Schemas["PythonProcess"]) =>
  cmdline.slice(1, 4).some((word) => /\/holdfast\/(probe|targets)\//.test(word));

interface ProcessRowProps {
  of: Schemas["PythonProcess"];
  onAttach: (target: { pid?: number; port?: number }) => void;
}

function ProcessRow({ of, onAttach }: ProcessRowProps) {
  const { pid, cmdline, python, debuggable, reason, listening } = of;
  return (
    <li>
      <div className="grow cut">
        <div className="mono cut">{cmdline.slice(1).join(" ") || of.name}</div>
        <div className="soft cut">
          {pid}
          {python ? `, Python ${python}` : ""}
          {listening ? `, listens at ${listening}` : ""}
          {reason ? `: ${reason}` : ""}
        </div>
      </div>
      <button
        type="button"
        disabled={!debuggable}
        onClick={() => onAttach(listening ? { port: listening } : { pid })}
      >
        Attach<span className="unseen"> to {pid}</span>
      </button>
    </li>
  );
}
