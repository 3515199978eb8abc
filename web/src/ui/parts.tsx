import { type ReactNode, useState } from "react";

import { ServerProblem } from "../api/client";

/** The state of a session, a call or a hold, in its colour. */
export function Status({ of }: { of: string }) {
  return <span className={`status ${of}`}>{of.replaceAll("_", " ")}</span>;
}

/** The key of a button, for the eye: a button is called what it does, and its key is announced as one. */
export function KeyHint({ of }: { of: string }) {
  return (
    <span className="key-hint" aria-hidden="true">
      <kbd>{of}</kbd>
    </span>
  );
}

/** What went wrong and what to do about it; nothing if nothing did. */
export function ProblemMessage({ problem }: { problem: unknown }) {
  if (!problem) return null;
  const message = problem instanceof Error ? problem.message : String(problem);
  return (
    <div className="problem" role="alert">
      <p>{message}</p>
      {problem instanceof ServerProblem && problem.hint ? <p>{problem.hint}</p> : null}
    </div>
  );
}

/** A command line, and a button that copies it. */
export function CopyableCommand({ text }: { text: string }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => void navigator.clipboard?.writeText(text).then(() => setCopied(true));
  return (
    <span className="copyable">
      <code>{text}</code>
      <button type="button" className="quiet" onClick={copy} aria-label={`Copy: ${text}`}>
        {isCopied ? "Copied" : "Copy"}
      </button>
    </span>
  );
}

/** What stands where there is nothing yet: how to get something. */
export function EmptyState({ children, command }: { children: ReactNode; command?: string }) {
  return (
    <div className="empty">
      <div>{children}</div>
      {command ? <CopyableCommand text={command} /> : null}
    </div>
  );
}

interface PanelProps {
  title: string;
  /** On the right of the title. */
  aside?: ReactNode;
  className?: string;
  children: ReactNode;
}

/** A titled part of a view. */
export function Panel({ title, aside, className = "", children }: PanelProps) {
  return (
    <section className={`panel ${className}`} aria-label={title}>
      <header>
        <h2>{title}</h2>
        <div className="aside">{aside}</div>
      </header>
      {children}
    </section>
  );
}
