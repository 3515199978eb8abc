import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";

import { sessionsQuery } from "../api/queries";
import { useAddressValue } from "../ui/address";
import { useCommand } from "../ui/commands";
import { formatClock, formatCount } from "../ui/format";
import { CopyableCommand, EmptyState, KeyHint, Panel, ProblemMessage, Status } from "../ui/parts";
import type { AgentSession } from "./agent-queries";
import "./agents.css";
import { formatCost } from "./ConversationRow";

/** All runs of agents. Two of them can be compared. */
export function AgentsPage() {
  const navigate = useNavigate();
  const { data, error } = useQuery(sessionsQuery);
  const [left, setLeft] = useAddressValue("left");
  const [right, setRight] = useAddressValue("right");
  const runs = (data?.sessions ?? [])
    .filter((session): session is AgentSession => session.kind === "agent")
    .toSorted((a, b) => b.created_at.localeCompare(a.created_at));
  const choose = (id: string) => {
    if (left === id) setLeft("");
    else if (right === id) setRight("");
    else if (!left) setLeft(id);
    else setRight(id);
  };
  const compare = () => void navigate({ to: "/agents/compare", search: { left, right } as never });
  useCommand("Compare the two chosen runs", "c", compare, left !== "" && right !== "");
  const aside = (
    <button type="button" className="primary" disabled={!left || !right} onClick={compare}>
      Compare {left && right ? <KeyHint of="c" /> : null}
    </button>
  );
  return (
    <div className="stacked-view agent-pages">
      <h1 className="unseen">Agents</h1>
      <ProblemMessage problem={error} />
      {runs.length ? (
        <Panel title="Runs" className="fill" aside={aside}>
          <p className="hint-line soft" role="status">
            {left && right
              ? "Two runs are chosen."
              : left || right
                ? "Choose one more run to compare."
                : "Choose two runs to compare them."}
          </p>
          <div className="fill" tabIndex={0} role="group" aria-label="List of runs">
            <RunTable runs={runs} chosen={[left, right]} onChoose={choose} />
          </div>
        </Panel>
      ) : data ? (
        <NoRuns />
      ) : null}
    </div>
  );
}

interface RunTableProps {
  runs: AgentSession[];
  chosen: string[];
  onChoose: (id: string) => void;
}

function RunTable({ runs, chosen, onChoose }: RunTableProps) {
  return (
    <table className="table runs">
      <thead>
        <tr>
          <th scope="col">
            <span className="unseen">Compare</span>
          </th>
          <th scope="col">Name</th>
          <th scope="col">Status</th>
          <th scope="col" className="wide-only">
            Model
          </th>
          <th scope="col" className="wide-only">
            Iteration
          </th>
          <th scope="col" className="wide-only">
            Tokens
          </th>
          <th scope="col" className="wide-only">
            Cost
          </th>
          <th scope="col" className="wide-only">
            Began
          </th>
          <th scope="col" className="wide-only">
            Comes from
          </th>
        </tr>
      </thead>
      <tbody>
        {runs.map((run) => (
          <RunRow
            key={run.session_id}
            run={run}
            isChosen={chosen.includes(run.session_id)}
            onChoose={onChoose}
          />
        ))}
      </tbody>
    </table>
  );
}

interface RunRowProps {
  run: AgentSession;
  isChosen: boolean;
  onChoose: (id: string) => void;
}

function RunRow({ run, isChosen, onChoose }: RunRowProps) {
  const { counters } = run;
  const id = run.session_id;
  return (
    <tr aria-selected={isChosen}>
      <td className="narrow">
        <input
          type="checkbox"
          checked={isChosen}
          aria-label={`Compare ${id}`}
          onChange={() => onChoose(id)}
        />
      </td>
      <td className="cut">
        <Link to="/agents/$id" params={{ id } as never}>
          {run.name ?? id}
        </Link>
        <div className="soft cut mono run-id">{id}</div>
      </td>
      <td className="narrow">
        <Status of={run.status} />
      </td>
      <td className="narrow wide-only">{run.model ?? ""}</td>
      <td className="narrow wide-only">{run.iteration}</td>
      <td className="narrow wide-only">
        {counters ? formatCount(counters.input_tokens + counters.output_tokens) : ""}
      </td>
      <td className="narrow wide-only">
        {counters?.cost === null || !counters ? "" : formatCost(counters.cost)}
      </td>
      <td className="narrow wide-only">
        <time dateTime={run.created_at}>
          {run.created_at.slice(0, 10)} {formatClock(run.created_at).slice(0, 8)}
        </time>
      </td>
      <td className="cut wide-only">
        {run.parent ? (
          <>
            {run.forkAt === undefined ? "" : `fork at ${run.forkAt} of `}
            <Link to="/agents/$id" params={{ id: run.parent } as never}>
              {run.parent}
            </Link>
          </>
        ) : null}
      </td>
    </tr>
  );
}

const EXAMPLE = `from holdfast.bridge import start

dbg = start("my-agent")
ask, read_file = dbg.model(ask), dbg.tool(read_file)`;

function NoRuns() {
  return (
    <Panel title="Runs">
      <EmptyState command="holdfast agent run -- python agent.py">
        <p>No agent has run yet. Three lines in yours record its model calls and tools:</p>
        <pre className="body-text">{EXAMPLE}</pre>
        <p>Run it as always, or so that it begins held:</p>
      </EmptyState>
      <div className="empty">
        <p>Every framework that Holdfast knows needs as little. To see one at once:</p>
        <CopyableCommand text="python examples/agent_loop.py" />
      </div>
    </Panel>
  );
}
