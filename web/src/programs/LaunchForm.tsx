import { type FormEvent, useState } from "react";

import { Panel, ProblemMessage } from "../ui/parts";
import { emptyLaunch, type LaunchFields, makeLaunchRequest } from "./launch-request";
import { useLaunch } from "./launching";

const KINDS = [
  { kind: "script", label: "Script", target: "Script", example: "orders.py, or its whole path" },
  { kind: "module", label: "Module", target: "Module", example: "http.server" },
  { kind: "tests", label: "Tests (pytest)", target: "Tests", example: "tests/test_orders.py::test_total" },
] as const;

/** Asks what to launch, and how. */
export function LaunchForm({ initial = emptyLaunch }: { initial?: LaunchFields }) {
  const [fields, setFields] = useState(initial);
  const launch = useLaunch();
  const set = (change: Partial<LaunchFields>) => setFields({ ...fields, ...change });
  const shown = KINDS.find(({ kind }) => kind === fields.kind) ?? KINDS[0];
  const submit = (event: FormEvent) => {
    event.preventDefault();
    launch.mutate(() => makeLaunchRequest(fields));
  };
  return (
    <Panel title="Launch a program">
      <form className="launch-form" onSubmit={submit}>
        <fieldset className="kinds">
          <legend>What to run</legend>
          {KINDS.map(({ kind, label }) => (
            <label key={kind} className="check">
              <input type="radio" name="kind" checked={fields.kind === kind} onChange={() => set({ kind })} />
              {label}
            </label>
          ))}
        </fieldset>
        <TextField
          label={shown.target}
          example={shown.example}
          isRequired
          value={fields.target}
          onChange={(target) => set({ target })}
        />
        <TextField
          label="Arguments"
          example="--verbose 'two words'"
          value={fields.args}
          onChange={(args) => set({ args })}
        />
        <TextField
          label="Working directory"
          example="The script's own"
          value={fields.cwd}
          onChange={(cwd) => set({ cwd })}
        />
        <TextField
          label="Python"
          example="The server's own, or a path such as .venv/bin/python"
          value={fields.python}
          onChange={(python) => set({ python })}
        />
        <TextField
          label="Break at"
          example="orders.py:12, shop.py:3"
          value={fields.breakAt}
          onChange={(breakAt) => set({ breakAt })}
        />
        <label className="check">
          <input
            type="checkbox"
            checked={fields.stopOnEntry}
            onChange={(event) => set({ stopOnEntry: event.target.checked })}
          />
          Stop at the first line
        </label>
        <ProblemMessage problem={launch.error} />
        <button type="submit" className="primary" disabled={launch.isPending}>
          Launch
        </button>
      </form>
    </Panel>
  );
}

interface TextFieldProps {
  label: string;
  example: string;
  value: string;
  isRequired?: boolean;
  onChange: (value: string) => void;
}

function TextField({ label, example, value, isRequired = false, onChange }: TextFieldProps) {
  return (
    <label>
      {label}
      <input
        className="mono"
        required={isRequired}
        placeholder={example}
        spellCheck={false}
        autoCapitalize="off"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}
