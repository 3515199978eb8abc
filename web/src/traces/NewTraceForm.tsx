import { type FormEvent, useState } from "react";

import { useAddressValue } from "../ui/address";
import { Panel, ProblemMessage } from "../ui/parts";
import { Remarks } from "./Remarks";
import { useRecording } from "./trace-opening";
import type { TraceReport } from "./trace-queries";
import { emptyTrace, makeTraceRequest, type TraceFields } from "./trace-request";

/** Asks what to run and which call to record. The address may fill it in: `?target=&function=`. */
export function NewTraceForm() {
  const [target] = useAddressValue("target");
  const [name] = useAddressValue("function");
  const [fields, setFields] = useState<TraceFields>({ ...emptyTrace, target, function: name });
  const [problem, setProblem] = useState<unknown>(null);
  const making = useRecording();
  const set = (change: Partial<TraceFields>) => setFields({ ...fields, ...change });
  const submit = (event: FormEvent) => {
    event.preventDefault();
    setProblem(null);
    try {
      making.mutate(makeTraceRequest(fields));
    } catch (error) {
      setProblem(error);
    }
  };
  const text = (field: keyof TraceFields) => ({
    className: "mono",
    spellCheck: false,
    autoCapitalize: "off",
    value: fields[field],
    onChange: (event: { target: { value: string } }) => set({ [field]: event.target.value }),
  });
  return (
    <Panel title="Make a trace">
      <form className="trace-form" onSubmit={submit}>
        <label>
          Run
          <input
            required
            placeholder="orders.py, tests/test_orders.py::test_total, or a command line"
            {...text("target")}
          />
        </label>
        <label>
          Arguments
          <input placeholder="--verbose 'two words'" {...text("args")} />
        </label>
        <label>
          Function
          <input
            placeholder="total, Order.total or shop.orders.total; none: the call tree"
            {...text("function")}
          />
        </label>
        <CallChoice fields={fields} onChange={set} />
        <label>
          Working directory
          <input placeholder="The server's own" {...text("cwd")} />
        </label>
        <label>
          Python
          <input placeholder="The project's own" {...text("python")} />
        </label>
        <ProblemMessage problem={problem ?? making.error} />
        <div className="row">
          <button type="submit" className="primary" disabled={making.isPending}>
            Run and record
          </button>
          <span className="soft" role="status">
            {making.isPending ? "It runs…" : ""}
          </span>
        </div>
        {making.data ? <MissingCall report={making.data} /> : null}
      </form>
    </Panel>
  );
}

const PICKS = [
  { pick: "number", label: "By its number" },
  { pick: "where", label: "By its arguments" },
  { pick: "raised", label: "The first that raised" },
] as const;

interface CallChoiceProps {
  fields: TraceFields;
  onChange: (change: Partial<TraceFields>) => void;
}

function CallChoice({ fields, onChange }: CallChoiceProps) {
  const isOff = !fields.function.trim();
  return (
    <fieldset className="call-choice" disabled={isOff}>
      <legend>Which of its calls</legend>
      {PICKS.map(({ pick, label }) => (
        <label key={pick} className="check">
          <input
            type="radio"
            name="pick"
            checked={fields.pick === pick}
            onChange={() => onChange({ pick })}
          />
          {label}
        </label>
      ))}
      {fields.pick === "number" ? (
        <label>
          Number
          <input
            type="number"
            min={1}
            value={fields.call}
            onChange={(event) => onChange({ call: event.target.value })}
          />
        </label>
      ) : null}
      {fields.pick === "where" ? (
        <label>
          Condition
          <input
            className="mono"
            placeholder="n > 3 and name == 'tea'"
            spellCheck={false}
            value={fields.where}
            onChange={(event) => onChange({ where: event.target.value })}
          />
        </label>
      ) : null}
    </fieldset>
  );
}

/** What the server says when it recorded no call. */
function MissingCall({ report }: { report: TraceReport }) {
  if (report.steps?.length || report.tree?.length) return null;
  return (
    <div role="status">
      <Remarks remarks={report.remarks ?? []} />
      {report.output ? <pre className="output">{report.output}</pre> : null}
      {report.next ? <p className="soft">{report.next}</p> : null}
    </div>
  );
}
