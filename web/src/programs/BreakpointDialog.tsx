import { useState } from "react";
import { Dialog, Heading, Modal, ModalOverlay } from "react-aria-components";

import { ProblemMessage } from "../ui/parts";
import type { Breakpoints } from "./breakpoint-edits";
import {
  type BreakpointFields,
  describeBreakpoint,
  type EditedBreakpoint,
  readFields,
} from "./breakpoint-facts";
import type { Breakpoint } from "./program-state";

interface BreakpointDialogProps {
  edited: EditedBreakpoint;
  breakpoints: Breakpoints;
  onClose: () => void;
}

const TEXTS = [
  {
    name: "condition",
    label: "Condition",
    help: "Stop only where this Python expression is true: total > 10",
  },
  { name: "hit_condition", label: "Hit count", help: "On which hits: 3, == 3, > 3, >= 3, % 3" },
  { name: "log_message", label: "Log message", help: "Write this instead of stopping: total is {total}" },
] as const;

/** When a breakpoint stops, and whether it writes instead. */
export default function BreakpointDialog({ edited, breakpoints, onClose }: BreakpointDialogProps) {
  const there = "breakpoint" in edited ? edited.breakpoint : undefined;
  const [fields, setFields] = useState(() => readFields(there));
  const set = (change: Partial<BreakpointFields>) => setFields({ ...fields, ...change });
  const finish = (work: Promise<unknown>) => void work.then(onClose, () => undefined); // the problem is shown
  const isData = there?.kind === "data";
  return (
    <ModalOverlay isOpen isDismissable onOpenChange={onClose} className="overlay">
      <Modal className="dialog">
        <Dialog>
          <form
            className="breakpoint-form"
            onSubmit={(event) => {
              event.preventDefault();
              finish(breakpoints.save(edited, fields));
            }}
          >
            <Heading slot="title">
              Breakpoint at {describeBreakpoint(there ?? (edited as Breakpoint))}
            </Heading>
            <ProblemMessage problem={breakpoints.problem} />
            {TEXTS.filter(({ name }) => !(isData && name === "log_message")).map(({ name, label, help }) => (
              <label key={name}>
                {label}
                <input
                  className="mono"
                  autoFocus={name === "condition"}
                  value={fields[name]}
                  aria-describedby={`help-${name}`}
                  onChange={(event) => set({ [name]: event.target.value })}
                />
                <small id={`help-${name}`} className="soft">
                  {help}
                </small>
              </label>
            ))}
            <label className="check">
              <input
                type="checkbox"
                checked={fields.enabled}
                onChange={(event) => set({ enabled: event.target.checked })}
              />
              Enabled
            </label>
            <div className="actions">
              <button type="submit" className="primary">
                Save
              </button>
              <button type="button" onClick={onClose}>
                Cancel
              </button>
              {there ? (
                <button type="button" className="danger" onClick={() => finish(breakpoints.remove(there))}>
                  Remove
                </button>
              ) : null}
            </div>
          </form>
        </Dialog>
      </Modal>
    </ModalOverlay>
  );
}
