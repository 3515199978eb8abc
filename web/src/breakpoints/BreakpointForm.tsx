import { useMutation, useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";

import { api, bodyOf } from "../api/client";
import { sessionsQuery } from "../api/queries";
import { ProblemMessage } from "../ui/parts";
import {
  buildFields,
  type CallBreakpoint,
  type FormFields,
  NO_FIELDS,
  readFields,
} from "./breakpoint-fields";
import { functionsQuery } from "./breakpoint-queries";

interface BreakpointFormProps {
  /** The breakpoint to change; left out, a new one is made. */
  point?: CallBreakpoint;
  onDone: () => void;
}

/** The boxes of a breakpoint. What the server refuses stays in them, with the reason. */
export function BreakpointForm({ point, onDone }: BreakpointFormProps) {
  const [fields, setFields] = useState(point ? readFields(point) : NO_FIELDS);
  const saved = useMutation({
    mutationFn: () => saveBreakpoint(point?.id, fields),
    onSuccess: () => {
      if (!point) setFields(NO_FIELDS);
      onDone();
    },
  });
  const set = (name: keyof FormFields) => (text: string) => setFields({ ...fields, [name]: text });
  return (
    <form
      className="breakpoint-form"
      onSubmit={(event) => {
        event.preventDefault();
        saved.mutate();
      }}
    >
      <FunctionBox text={fields.function} onChange={set("function")} />
      <TextBox
        name="condition"
        hint="item == 'tea' and count > 2"
        text={fields.condition}
        onChange={set("condition")}
      />
      <Choice name="when" text={fields.when} onChange={set("when")} options={WHEN} />
      <Choice name="call type" text={fields.call_type} onChange={set("call_type")} options={TYPES} />
      <TextBox name="alias" hint="db.*" text={fields.alias} onChange={set("alias")} />
      <TextBox
        name="hit condition"
        hint=">= 3, % 10"
        text={fields.hit_condition}
        onChange={set("hit_condition")}
      />
      <SessionBox text={fields.session_id} onChange={set("session_id")} />
      <div className="actions">
        <button type="submit" className="primary" disabled={saved.isPending}>
          {point ? "Save" : "Add breakpoint"}
        </button>
        {point ? (
          <button type="button" onClick={onDone}>
            Cancel
          </button>
        ) : null}
      </div>
      <ProblemMessage problem={saved.error} />
    </form>
  );
}

function saveBreakpoint(id: string | undefined, fields: FormFields): Promise<CallBreakpoint> {
  const body = buildFields(fields);
  if (id === undefined) return bodyOf(api.POST("/api/breakpoints", { body }));
  const params = { path: { breakpoint_id: id } };
  return bodyOf(api.PATCH("/api/breakpoints/{breakpoint_id}", { params, body }));
}

const WHEN: [string, string][] = [
  ["before", "before it runs"],
  ["after", "after it returned"],
  ["exception", "when it raises"],
];
const TYPES: [string, string][] = [
  ["", "any call"],
  ["proxy", "proxy: of wrapped objects"],
  ["inline", "inline: debug_call(f, x)"],
];

interface BoxProps {
  text: string;
  onChange: (text: string) => void;
}

/** A name or a pattern, with the functions that are known. */
function FunctionBox({ text, onChange }: BoxProps) {
  const list = useId();
  const functions = useQuery(functionsQuery).data?.functions ?? [];
  const names = [...new Set(functions.map((each) => each.qualname ?? each.name))];
  const classes = names
    .filter((name) => name.includes("."))
    .map((name) => `${name.slice(0, name.lastIndexOf("."))}.*`);
  return (
    <label>
      function
      <input
        className="mono"
        list={list}
        value={text}
        placeholder="Shop.sell, or a pattern: Shop.*"
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={list}>
        {[...names, ...new Set(classes)].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
    </label>
  );
}

function TextBox({ name, hint, text, onChange }: BoxProps & { name: string; hint: string }) {
  return (
    <label>
      {name}
      <input
        className="mono"
        value={text}
        placeholder={hint}
        spellCheck={false}
        autoComplete="off"
        onChange={(event) => onChange(event.target.value)}
      />
    </label>
  );
}

function Choice({ name, text, onChange, options }: BoxProps & { name: string; options: [string, string][] }) {
  return (
    <label>
      {name}
      <select value={text} onChange={(event) => onChange(event.target.value)}>
        {options.map(([value, label]) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  );
}

/** In which applications it counts. */
function SessionBox({ text, onChange }: BoxProps) {
  const sessions = (useQuery(sessionsQuery).data?.sessions ?? []).filter((each) => each.kind === "calls");
  const options: [string, string][] = sessions
    .filter((each) => each.status === "running" || each.status === "paused" || each.session_id === text)
    .map((each) => [each.session_id, each.name ?? each.session_id]);
  return (
    <Choice
      name="application"
      text={text}
      onChange={onChange}
      options={[["", "any application"], ...options]}
    />
  );
}
