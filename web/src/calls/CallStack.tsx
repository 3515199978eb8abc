import { formatPlace } from "../ui/format";

interface Frame {
  filename?: string;
  lineno?: number;
  function?: string;
  code_context?: string | null;
}

/** The frames that led to a call, the innermost first. */
export function CallStack({ frames, title }: { frames: Record<string, unknown>[]; title: string }) {
  if (!frames.length) return null;
  return (
    <section className="call-part" aria-label={title}>
      <h3>{title}</h3>
      <ol className="call-stack">
        {(frames as Frame[]).map((frame, at) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: frames have no other name, and never move
          <li key={at}>
            <span className="mono cut">
              {frame.function} <span className="soft">{frame.code_context}</span>
            </span>
            <span className="soft mono">
              {formatPlace(frame.filename ? { file: frame.filename, line: frame.lineno ?? 0 } : null)}
            </span>
          </li>
        ))}
      </ol>
    </section>
  );
}
