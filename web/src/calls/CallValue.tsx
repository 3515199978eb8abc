import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";

import type { Schemas } from "../api/client";
import { useAddressValue } from "../ui/address";
import { formatClock, formatCount } from "../ui/format";
import { ProblemMessage } from "../ui/parts";
import { comparisonQuery, previousCallQuery, valueCallsQuery, valueQuery } from "./call-queries";
import {
  formatArguments,
  formatOutcome,
  isCut,
  labelArguments,
  nameCall,
  RESULT,
  TARGET,
  type Value,
} from "./call-texts";

type Detail = Schemas["CallDetail"];

/** Something that a value can be compared with: a known value, or one that is found when asked for. */
export interface Comparand {
  key: string;
  label: string;
  value?: Value;
  cid?: string;
}

interface CallValueProps {
  call: Detail;
  label: string;
  value: Value;
  /** Tells two values of one label apart: what it was after the call. */
  place?: string;
  comparands: Comparand[];
}

/** A value by its text. Its menu shows all of it, its differences from another, and where else it was. */
export function CallValue({ call, label, value, place = "", comparands }: CallValueProps) {
  const [look, setLook] = useAddressValue("look");
  const name = place ? `${label}.${place}` : label;
  const [kind, of, against] = look.split(":");
  const isLooking = of === name;
  const compared = comparands.find((each) => each.key === against);
  const choose = (key: string) => setLook(key === look ? "" : key);
  return (
    <div className="call-value">
      <div className="value-row">
        <span className="value-name mono">{label}</span>
        <ValueText value={value} />
        <span className="soft mono value-type">{describeType(value)}</span>
        <ValueMenu name={name} value={value} comparands={comparands} onChoose={choose} />
      </div>
      {isLooking ? (
        <ValueLook onClose={() => setLook("")}>
          {kind === "whole" ? <WholeValue cid={value.cid} /> : null}
          {kind === "calls" ? <ValueCalls cid={value.cid} call={call} /> : null}
          {kind === "diff" && compared ? (
            <ComparedValue call={call} label={label} value={value} comparand={compared} />
          ) : null}
        </ValueLook>
      ) : null}
    </div>
  );
}

/** A value's text, never as anything else but text. */
export function ValueText({ value }: { value: Value }) {
  return (
    <code className="value-text">
      {value.text}
      {value.marker ? <span className="soft"> ({value.marker.replaceAll("_", " ")})</span> : null}
    </code>
  );
}

const describeType = (value: Value): string =>
  value.length === undefined ? value.type : `${value.type}, ${formatCount(value.length)}`;

interface ValueMenuProps {
  name: string;
  value: Value;
  comparands: Comparand[];
  onChoose: (key: string) => void;
}

function ValueMenu({ name, value, comparands, onChoose }: ValueMenuProps) {
  return (
    <MenuTrigger>
      <Button className="quiet value-more" aria-label={`More about ${name}`}>
        ⋯
      </Button>
      <Popover className="popover" placement="bottom end">
        <Menu className="palette-list" onAction={(key) => onChoose(String(key))}>
          {isCut(value) ? <MenuItem id={`whole:${name}`}>Show the whole value</MenuItem> : null}
          {comparands.map(({ key, label }) => (
            <MenuItem key={key} id={`diff:${name}:${key}`}>
              Compare with {label}
            </MenuItem>
          ))}
          <MenuItem id={`calls:${name}`}>Other calls with this value</MenuItem>
        </Menu>
      </Popover>
    </MenuTrigger>
  );
}

function ValueLook({ children, onClose }: { children: ReactNode; onClose: () => void }) {
  return (
    <div className="value-look">
      <div className="grow">{children}</div>
      <button type="button" className="quiet" onClick={onClose} aria-label="Close what is shown of the value">
        ✕
      </button>
    </div>
  );
}

function WholeValue({ cid }: { cid: string }) {
  const { data, error } = useQuery(valueQuery(cid));
  return (
    <>
      <ProblemMessage problem={error} />
      {data ? <pre className="whole-value">{data.literal ?? data.text}</pre> : null}
      {data && data.literal === undefined && isCut(data) ? (
        <p className="soft">
          It is too long, or no plain data, so this is all that can be shown here. Its bytes are at{" "}
          <code>/api/cid/{cid.slice(0, 12)}…</code>
        </p>
      ) : null}
    </>
  );
}

/** The other calls that used a value. */
function ValueCalls({ cid, call }: { cid: string; call: Detail }) {
  const { data, error } = useQuery(valueCallsQuery(cid));
  const others = (data?.calls ?? []).filter((each) => each.call_id !== call.call_id);
  return (
    <>
      <ProblemMessage problem={error} />
      {data && !others.length ? <p className="soft">No other call used it.</p> : null}
      <ul className="value-calls">
        {others.map((each) => (
          <li key={each.call_id} className="cut">
            <Link to={"/calls/$id" as string} params={{ id: each.call_id } as never} className="mono">
              {nameCall(each)}({formatArguments(each)})
            </Link>{" "}
            <span className="soft mono">
              {formatOutcome(each)} · {formatClock(each.timestamp)}
            </span>
          </li>
        ))}
      </ul>
      {data?.has_more ? <p className="soft">The newest 20 are shown.</p> : null}
    </>
  );
}

interface ComparedValueProps {
  call: Detail;
  label: string;
  value: Value;
  comparand: Comparand;
}

function ComparedValue({ call, label, value, comparand }: ComparedValueProps) {
  const cid = comparand.value?.cid ?? comparand.cid;
  if (cid) {
    const [left, right] = comparand.key === "before" ? [cid, value.cid] : [value.cid, cid];
    return <Comparison left={left} right={right} />;
  }
  return <PreviousComparison call={call} label={label} value={value} />;
}

/** How a value differs from what the same function had for it the last time. */
function PreviousComparison({ call, label, value }: Omit<ComparedValueProps, "comparand">) {
  const { call_id, session_id } = call;
  const { data: previous, error } = useQuery(
    previousCallQuery({ call_id, session_id, name: nameCall(call) }),
  );
  if (error) return <ProblemMessage problem={error} />;
  if (previous === undefined) return <p className="soft">Looking for it…</p>;
  const cid = previous && findValue(previous, label);
  if (!cid) return <p className="soft">There is no earlier call of this function with such a value.</p>;
  return <Comparison left={cid} right={value.cid} />;
}

function findValue(call: Detail, label: string): string | null {
  if (label === RESULT) return call.result_cid ?? call.exception_cid ?? null;
  if (label === TARGET) return call.target_cid;
  return labelArguments(call).find((each) => each.label === label)?.value.cid ?? null;
}

/** Where two values differ, the earlier one on the left. */
function Comparison({ left, right }: { left: string; right: string }) {
  const { data, error } = useQuery(comparisonQuery(left, right));
  if (error) return <ProblemMessage problem={error} />;
  if (!data) return <p className="soft">Comparing…</p>;
  if (data.equal) return <p>{data.identical ? "They are the same." : "They are equal."}</p>;
  return (
    <>
      <table className="differences" aria-label="Differences">
        <thead>
          <tr>
            <th scope="col">where</th>
            <th scope="col">before</th>
            <th scope="col">after</th>
          </tr>
        </thead>
        <tbody>
          {data.differences.map((difference) => (
            <tr key={`${difference.path} ${difference.change}`}>
              <th scope="row" className="mono">
                {difference.path}
              </th>
              <td className="mono">{difference.left ?? <span className="soft">nothing</span>}</td>
              <td className="mono">{difference.right ?? <span className="soft">nothing</span>}</td>
            </tr>
          ))}
        </tbody>
      </table>
      {data.complete ? null : <p className="soft">There may be more differences than these.</p>}
    </>
  );
}
