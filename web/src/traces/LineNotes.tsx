import type { ReactNode } from "react";

import type { Schemas } from "../api/client";
import type { Round } from "./loop-rounds";
import type { Entry, LinePass } from "./traced-pass";
import { WholeValue } from "./WholeValue";
import { nameAsked } from "./why-steps";

type Change = Schemas["ShownChange"];

/** Asks where a variable got its value: what it held after the line ran for the `hit`th time in all calls. */
export type AskWhy = (variable: string, hit?: number) => void;

interface LineNotesProps {
  passed: LinePass;
  /** Whether the line is chosen: then everything is shown, and what one can ask about it. */
  isOpen: boolean;
  onWhy: AskWhy;
}

const MOST_STEPS = 12;

/** What a line did in the rounds that are looked at. */
export function LineNotes({ passed, isOpen, onWhy }: LineNotesProps) {
  const { steps, loops } = passed;
  const shown = isOpen ? steps : steps.slice(-MOST_STEPS);
  return (
    <>
      {shown.length < steps.length ? (
        <span className="soft">{steps.length - shown.length} times before, </span>
      ) : null}
      {shown.map((step, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a step is its place in the order
        <StepNotes key={index} step={step} isHead={loops.length > 0} isOpen={isOpen} onWhy={onWhy} />
      ))}
      {loops.map(({ round, line }) => (round ? <RoundValues key={line} round={round} /> : null))}
    </>
  );
}

interface StepNotesProps {
  step: Entry;
  /** Whether it is the head of a loop: that one more round is made is seen below it. */
  isHead: boolean;
  isOpen: boolean;
  onWhy: AskWhy;
}

function StepNotes({ step, isHead, isOpen, onWhy }: StepNotesProps) {
  return (
    <>
      {step.taken === undefined || isHead ? null : (
        <span className={step.taken ? "taken" : "taken not"}>{step.taken ? "taken" : "not taken"}</span>
      )}
      {step.changes?.map((change, index) => (
        <ChangeNote
          // biome-ignore lint/suspicious/noArrayIndexKey: one statement may change a name twice
          key={index}
          change={change}
          isOpen={isOpen}
          onWhy={() => onWhy(nameAsked(change), step.hit)}
        />
      ))}
      {step.calls?.map((call, index) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a call is its place in the order
        <code key={index} className="note call-note">
          {call}
        </code>
      ))}
      {step.yielded === undefined ? null : <Outcome word="yielded">{step.yielded}</Outcome>}
      {step.raised === undefined ? null : (
        <Outcome word="raised" isBad>
          {step.raised}
        </Outcome>
      )}
    </>
  );
}

interface ChangeNoteProps {
  change: Change;
  isOpen: boolean;
  onWhy: () => void;
}

function ChangeNote({ change, isOpen, onWhy }: ChangeNoteProps) {
  const note = (
    <code className={`note ${change.how}`}>
      {change.text}
      {change.how === "same" ? <span className="how"> unchanged</span> : null}
    </code>
  );
  if (!isOpen) return note;
  return (
    <span className="open-change">
      {note}
      {change.value !== undefined && change.how === "mutated" ? (
        <code className="soft">
          {change.name} = {change.value}
        </code>
      ) : null}
      {change.how === "deleted" ? null : (
        <button type="button" className="quiet small" onClick={onWhy}>
          Why?<span className="unseen"> Where {nameAsked(change)} got its value</span>
        </button>
      )}
      {change.content_id ? <WholeValue name={change.name} cid={change.content_id} /> : null}
    </span>
  );
}

/** What the loop's variables held at the end of a round of which nothing else was kept. */
function RoundValues({ round }: { round: Round }) {
  if (round.entries?.length) return null;
  return (
    <>
      {Object.entries(round.values ?? {}).map(([name, value]) => (
        <code key={name} className="note set">
          {name} = {value}
        </code>
      ))}
      <span className="soft">at the end of the round</span>
    </>
  );
}

export function Outcome({ word, isBad, children }: { word: string; isBad?: boolean; children: ReactNode }) {
  return (
    <span className={isBad ? "outcome bad" : "outcome"}>
      {word} <code>{children}</code>
    </span>
  );
}
