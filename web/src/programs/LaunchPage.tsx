import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";

import type { Session } from "../api/kinds";
import { sessionsQuery } from "../api/queries";
import { formatCount, formatPlace } from "../ui/format";
import { EmptyState, Panel, ProblemMessage, Status } from "../ui/parts";
import { AttachForm } from "./AttachForm";
import { LaunchForm } from "./LaunchForm";
import type { LaunchFields } from "./launch-request";
import { RecentLaunches } from "./RecentLaunches";
import "./program.css";
import "./launch.css";

/** The programs: launch one, attach to one, or go on with one. */
export function LaunchPage() {
  const [chosen, setChosen] = useState<{ number: number; fields?: LaunchFields }>({ number: 0 });
  return (
    <div className="launch-page">
      <h1 className="unseen">Programs</h1>
      <div className="column">
        <LaunchForm key={chosen.number} {...(chosen.fields ? { initial: chosen.fields } : {})} />
        <RecentLaunches onChange={(fields) => setChosen({ number: chosen.number + 1, fields })} />
      </div>
      <div className="column">
        <ProgramList />
        <AttachForm />
      </div>
    </div>
  );
}

type ProgramSession = Extract<Session, { kind: "program" }>;

function ProgramList() {
  const { data, error } = useQuery(sessionsQuery);
  const programs = (data?.sessions ?? [])
    .filter((session) => session.kind === "program")
    .toSorted((a, b) => b.created_at.localeCompare(a.created_at));
  return (
    <Panel title="Program sessions" aside={formatCount(programs.length)}>
      <ProblemMessage problem={error} />
      {programs.length ? (
        <ul className="launches fill" aria-label="Program sessions">
          {programs.map((program) => (
            <ProgramRow key={program.session_id} program={program} />
          ))}
        </ul>
      ) : (
        <EmptyState>There are none yet. Fill in the form, or attach to a program that runs.</EmptyState>
      )}
    </Panel>
  );
}

function ProgramRow({ program }: { program: ProgramSession }) {
  return (
    <li>
      <div className="grow cut">
        <Link to="/programs/$id" params={{ id: program.session_id }}>
          {program.name ?? program.target ?? program.session_id}
        </Link>
        <div className="mono soft cut">{program.exception_line ?? formatPlace(program.location)}</div>
      </div>
      <Status of={program.status} />
    </li>
  );
}
