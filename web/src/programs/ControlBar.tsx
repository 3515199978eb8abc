import { useState } from "react";
import { Button, Menu, MenuItem, MenuTrigger, Popover } from "react-aria-components";

import { useCommand } from "../ui/commands";
import { formatPlace } from "../ui/format";
import { KeyHint, ProblemMessage, Status } from "../ui/parts";
import { type ProgramControl, STEPS } from "./control";
import type { Program } from "./program-state";
import { RunUntilDialog } from "./RunUntilDialog";

interface ControlBarProps {
  program: Program;
  control: ProgramControl;
  /** Another thread than the one that stopped, if one looks at it. */
  thread: number | undefined;
  frame: number;
  onRemove: () => void;
}

/** What the program is, where it is, and everything that makes it run or stop. */
export function ControlBar({ program, control, thread, frame, onRemove }: ControlBarProps) {
  const [isAsking, setAsking] = useState(false);
  const { status } = program;
  const isHeld = status === "paused";
  const canStep = isHeld || control.isStepping; // a key that is pressed during a step waits
  const isRunning = status === "running" || status === "waiting_for_input";
  const isAlive = isHeld || isRunning;
  const pause = () => control.send("pause");
  for (const { action, label, key } of STEPS) {
    // biome-ignore lint/correctness/useHookAtTopLevel: the list never changes
    useCommand(label, key, () => control.step(action, action === "continue" ? undefined : thread), canStep);
  }
  useCommand("Pause", "F6", pause, isRunning || control.isStepping);
  useCommand("Restart the program", "ctrl+shift+F5", () => control.send("restart"), program.run > 0);
  useCommand("Stop the program", "shift+F5", () => control.send("terminate"), isAlive);
  useCommand("Run until an expression is true", undefined, () => setAsking(true), isHeld);
  return (
    <header className="program-bar">
      <h1 className="cut">{program.name ?? program.target ?? program.session_id}</h1>
      <Status of={status} />
      <span className="mono soft cut place">{describePlace(program)}</span>
      <div className="controls" role="toolbar" aria-label="Control">
        {STEPS.map(({ action, label, key }) => (
          <button
            key={action}
            type="button"
            className={action === "continue" ? "primary" : ""}
            disabled={!isHeld}
            aria-keyshortcuts={key}
            onClick={() => control.step(action, action === "continue" ? undefined : thread)}
          >
            {label} <KeyHint of={key} />
          </button>
        ))}
        <button type="button" disabled={!isRunning} aria-keyshortcuts="F6" onClick={pause}>
          Pause <KeyHint of="F6" />
        </button>
        <button type="button" disabled={!program.run} onClick={() => control.send("restart")}>
          Restart
        </button>
        <button
          type="button"
          className="danger"
          disabled={!isAlive}
          onClick={() => control.send("terminate")}
        >
          Stop
        </button>
        <MenuTrigger>
          <Button className="quiet" aria-label="More ways to control it">
            ⋯
          </Button>
          <Popover className="popup" placement="bottom end">
            <Menu className="popup-list" aria-label="More ways to control it">
              <MenuItem isDisabled={!isHeld} onAction={() => setAsking(true)}>
                Run until…
              </MenuItem>
              <MenuItem isDisabled={!isAlive} onAction={() => control.send("detach")}>
                Detach: let it run by itself
              </MenuItem>
              <MenuItem onAction={onRemove}>Remove the session</MenuItem>
            </Menu>
          </Popover>
        </MenuTrigger>
      </div>
      <StopNotes program={program} />
      <ProblemMessage problem={control.problem} />
      {isAsking ? (
        <RunUntilDialog
          onRun={(expression) => control.runUntil(expression, frame)}
          onClose={() => setAsking(false)}
        />
      ) : null}
    </header>
  );
}

function describePlace({ location, reason, status }: Program): string {
  if (!location || status !== "paused") return "";
  const where = `${formatPlace(location)}${location.function ? ` in ${location.function}` : ""}`;
  return reason ? `${where} · ${reason}` : where;
}

/** What a stop says beside its place: the exception, the write, what was returned, what may mislead. */
function StopNotes({ program }: { program: Program }) {
  const {
    exception,
    data,
    returned,
    message,
    warnings = [],
    deadlocks = [],
    warning,
    condition_error,
  } = program;
  if (program.status === "terminated" || program.status === "failed") return null;
  const notes = [
    exception && `${exception.type}: ${exception.message}`,
    data && `${data.name} was ${data.old ?? "not there"}, and is now ${data.new ?? "gone"}`,
    ...(returned ?? []).map(({ name, value }) => `${name} returned ${value}`),
    condition_error && `The condition ${condition_error.expression} raised ${condition_error.error}`,
    message,
    warning,
    ...warnings,
    ...deadlocks,
  ].filter(Boolean);
  if (!notes.length) return null;
  return (
    <ul className={exception ? "stop-notes bad" : "stop-notes"} aria-label="About this stop">
      {notes.map((note) => (
        <li key={note} className="mono">
          {note}
        </li>
      ))}
    </ul>
  );
}
