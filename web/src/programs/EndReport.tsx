import { formatPlace } from "../ui/format";
import type { ProgramControl } from "./control";
import type { Program } from "./program-state";

interface EndReportProps {
  program: Program;
  control: ProgramControl;
  onOpen: (file: string, line: number) => void;
}

/** How a program ended: its exit code or exception, and what its breakpoints did. */
export function EndReport({ program, control, onOpen }: EndReportProps) {
  const { exception, stderr_tail, never_hit = [], condition_errors = [], error_details } = program;
  const isBad = Boolean(exception) || Boolean(program.exit_code) || program.status === "failed";
  return (
    <section className={isBad ? "end-report bad" : "end-report"} aria-label="How it ended">
      <div className="row">
        <strong className="grow">{describeEnd(program)}</strong>
        <button type="button" className="primary" onClick={() => control.send("restart")}>
          Restart
        </button>
      </div>
      {exception ? (
        <p className="mono">
          {exception.type}: {exception.message}
        </p>
      ) : null}
      {exception?.frames?.length ? (
        <ol className="end-frames" aria-label="Frames of the exception">
          {exception.frames.slice(0, 8).map((frame, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: a frame is its depth
            <li key={index}>
              <button
                type="button"
                className="link mono"
                onClick={() => onOpen(frame.file ?? "", frame.line ?? 1)}
              >
                {formatPlace(frame as { file: string; line: number })}
              </button>{" "}
              in {frame.name}
            </li>
          ))}
        </ol>
      ) : null}
      {error_details ? (
        <p>
          {error_details.message} <span className="soft">{error_details.hint}</span>
        </p>
      ) : null}
      {stderr_tail && !exception ? <pre className="output stderr">{stderr_tail}</pre> : null}
      {condition_errors.map(({ breakpoint_id, field, expression, error }) => (
        <p key={`${breakpoint_id} ${field}`}>
          <code>{expression}</code> raised: {error}
        </p>
      ))}
      {never_hit.length ? (
        <ul className="end-frames" aria-label="Breakpoints that were never hit">
          {never_hit.map(({ breakpoint_id, file, line, function: name, message }) => (
            <li key={breakpoint_id}>
              Never hit: <code>{name ?? formatPlace({ file: file ?? "", line: line ?? 0 })}</code>
              {message ? `, ${message}` : ""}
            </li>
          ))}
        </ul>
      ) : null}
    </section>
  );
}

function describeEnd({ status, exit_code, signal, reason }: Program): string {
  if (reason === "detached") return "It was detached, and runs on by itself.";
  if (status === "failed") return "It could not be started.";
  if (signal) return `It was ended by ${signal}.`;
  if (exit_code === 0) return "It ended with exit code 0.";
  if (exit_code !== null && exit_code !== undefined) return `It ended with exit code ${exit_code}.`;
  return `It ended${reason ? `: ${reason.replaceAll("_", " ")}` : ""}.`;
}
