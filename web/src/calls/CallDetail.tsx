import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";

import type { Schemas } from "../api/client";
import { sessionQuery } from "../api/queries";
import { BreakOnFunction } from "../breakpoints/BreakOnFunction";
import { formatClock, formatDuration, formatPlace } from "../ui/format";
import { ProblemMessage, Status } from "../ui/parts";
import { CallStack } from "./CallStack";
import { HoldLink } from "./CallTitle";
import { CallTreeRows } from "./CallTreeRows";
import { CallValue, type Comparand } from "./CallValue";
import { callQuery, treeQuery, valueQuery } from "./call-queries";
import {
  formatException,
  labelArguments,
  labelChanges,
  nameCall,
  RESULT,
  TARGET,
  type Value,
} from "./call-texts";
import { InlineHelp, InlineMark } from "./InlineHelp";

type Detail = Schemas["CallDetail"];

/** Everything that is known of one call; beside a list, or alone if it cannot be closed. */
export function CallDetail({ id, onClose }: { id: string; onClose?: () => void }) {
  const { data: call, error } = useQuery(callQuery(id));
  const panel = useRef<HTMLElement>(null);
  const isBeside = onClose !== undefined;
  useEffect(() => {
    // On a phone it stands below the list.
    if (isBeside && matchMedia("(max-width: 760px)").matches) panel.current?.scrollIntoView();
  }, [isBeside]);
  return (
    <section className="panel call-detail" aria-label="Call" ref={panel}>
      {call ? <CallHead call={call} onClose={onClose} /> : null}
      <div className="call-parts fill">
        <ProblemMessage problem={error} />
        {error && onClose ? (
          <button type="button" onClick={onClose}>
            Close
          </button>
        ) : null}
        {call ? <CallParts call={call} /> : error ? null : <p className="soft">Reading the call…</p>}
      </div>
    </section>
  );
}

function CallHead({ call, onClose }: { call: Detail; onClose: (() => void) | undefined }) {
  const Heading = onClose ? "h2" : "h1";
  return (
    <header>
      <Heading className="mono call-name">
        {nameCall(call)}
        <span className="soft">{call.signature}</span>
      </Heading>
      <div className="aside">
        {call.hold_id ? <HoldLink call={call} /> : <Status of={call.status} />}
        {onClose ? (
          <>
            <Link className="button" to={"/calls/$id" as string} params={{ id: call.call_id } as never}>
              Open alone
            </Link>
            <button type="button" className="quiet" onClick={onClose} aria-label="Close the call">
              ✕
            </button>
          </>
        ) : null}
      </div>
    </header>
  );
}

function CallParts({ call }: { call: Detail }) {
  return (
    <>
      <CallFacts call={call} />
      <div className="actions">
        <BreakOnFunction call={call} />
        {call.call_type === "inline" ? <InlineHelp /> : null}
      </div>
      {call.decided ? <p className="decided">{call.decided.text}</p> : null}
      {call.decided?.note ? <p className="soft">{call.decided.note}</p> : null}
      <ArgumentPart call={call} />
      <OutcomePart call={call} />
      <ChangePart call={call} />
      <TargetPart call={call} />
      <CallStack frames={call.call_site.stack_trace} title="Called from" />
      <TreePart call={call} />
    </>
  );
}

function Part({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="call-part" aria-label={title}>
      <h3>{title}</h3>
      {children}
    </section>
  );
}

/** When, how long, where and by whom. */
function CallFacts({ call }: { call: Detail }) {
  const session = useQuery(sessionQuery(call.session_id)).data;
  const facts: [string, ReactNode][] = [
    [
      "started",
      <time key="time" dateTime={call.timestamp}>
        {formatClock(call.timestamp)}
      </time>,
    ],
    ["took", formatDuration(call.duration_ms) || "still running"],
    ["thread", call.thread_name],
    ["task", call.task],
    ["alias", call.alias],
    ["made at", formatPlace(call.location)],
    ["kind", call.call_type === "inline" ? <InlineMark key="kind" /> : null],
    [
      "application",
      <Link key="session" to="/calls" search={{ session: call.session_id } as never}>
        {session?.name ?? call.session_id}
      </Link>,
    ],
    [
      "within",
      call.parent_id ? (
        <Link key="parent" to={"/calls/$id" as string} params={{ id: call.parent_id } as never}>
          its caller
        </Link>
      ) : null,
    ],
    ["stored in part", call.marker],
  ];
  return (
    <dl className="facts">
      {facts.map(([name, value]) =>
        value ? (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ) : null,
      )}
    </dl>
  );
}

/** What an argument can be compared with. */
function listComparands(call: Detail, label: string): Comparand[] {
  const after = labelChanges(call).find((each) => each.label === label);
  const decided = call.decided?.arguments?.find((each) => each.name === label);
  return [
    ...(after ? [{ key: "after", label: "what it was after the call", value: after.value }] : []),
    ...(decided ? [{ key: "decided", label: "what was decided", value: decided.after }] : []),
    ...(call.result && label !== RESULT ? [{ key: "result", label: "the result", value: call.result }] : []),
    { key: "previous", label: "the previous call of this function" },
  ];
}

function ArgumentPart({ call }: { call: Detail }) {
  const values = labelArguments(call);
  return (
    <Part title="Arguments">
      {values.length ? null : <p className="soft">It has none.</p>}
      {values.map(({ label, value }) => (
        <CallValue
          key={label}
          call={call}
          label={label}
          value={value}
          comparands={listComparands(call, label)}
        />
      ))}
    </Part>
  );
}

function OutcomePart({ call }: { call: Detail }) {
  if (call.status === "running") return null;
  const title = call.status === "exception" ? "Exception" : "Result";
  return (
    <Part title={title}>
      {call.status === "exception" ? <p className="mono bad wrap">{formatException(call)}</p> : null}
      {call.result ? <OutcomeValue call={call} value={call.result} /> : null}
      {call.exception ? <OutcomeValue call={call} value={call.exception} /> : null}
      {call.status === "lost" ? <p className="soft">The application ended before the call did.</p> : null}
      <DeliveredOutcome call={call} />
    </Part>
  );
}

function OutcomeValue({ call, value }: { call: Detail; value: Value }) {
  return <CallValue call={call} label={RESULT} value={value} comparands={listComparands(call, RESULT)} />;
}

/** What the caller got instead. */
function DeliveredOutcome({ call }: { call: Detail }) {
  const { delivered } = call;
  if (!delivered) return null;
  return (
    <p className="wrap">
      Its caller got{" "}
      <code>{delivered.exception_type ? formatException(delivered) : delivered.result?.text}</code> instead.
    </p>
  );
}

/** The values that the call left different. */
function ChangePart({ call }: { call: Detail }) {
  const changes = labelChanges(call);
  if (!changes.length) return null;
  const before = new Map(labelArguments(call).map(({ label, value }) => [label, value.cid]));
  if (call.target_cid) before.set(TARGET, call.target_cid);
  return (
    <Part title="What it changed">
      {changes.map(({ label, value }) => {
        const was = before.get(label);
        const comparands = was ? [{ key: "before", label: "what it was before the call", cid: was }] : [];
        return (
          <CallValue
            key={label}
            call={call}
            label={label}
            place="after"
            value={value}
            comparands={comparands}
          />
        );
      })}
    </Part>
  );
}

/** The object that the method was called on, before the call. */
function TargetPart({ call }: { call: Detail }) {
  const { data } = useQuery({ ...valueQuery(call.target_cid ?? ""), enabled: call.target_cid !== null });
  if (!data) return null;
  return (
    <Part title="Called on">
      <CallValue call={call} label={TARGET} value={data} comparands={listComparands(call, TARGET)} />
      {call.target_age_ms === undefined ? null : (
        <p className="soft">It was recorded {formatDuration(call.target_age_ms)} before the call.</p>
      )}
    </Part>
  );
}

/** The calls that were made within it. */
function TreePart({ call }: { call: Detail }) {
  const { data } = useQuery({ ...treeQuery(call.call_id), enabled: (call.child_count ?? 0) > 0 });
  const children = data?.call.children ?? [];
  if (!children.length) return null;
  return (
    <Part title="Calls within it">
      <div className="call-subtree">
        <CallTreeRows
          top={children.map((child) => ({ ...child, child_count: child.children.length }))}
          selected=""
        />
      </div>
      {data?.complete ? null : <p className="soft">There are more than these.</p>}
    </Part>
  );
}
