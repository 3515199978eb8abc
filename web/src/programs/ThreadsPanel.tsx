import { useQuery } from "@tanstack/react-query";

import { formatPlace } from "../ui/format";
import { EmptyState, Panel, ProblemMessage, Status } from "../ui/parts";
import type { ProgramControl } from "./control";
import { holdOf, type Program, type Thread } from "./program-state";
import { deadlocksQuery, tasksQuery, threadsQuery } from "./queries";
import type { Selection } from "./selection";
import { readingProblem, useCanRead } from "./stop-reading";

interface ThreadsPanelProps {
  program: Program;
  selection: Selection;
  control: ProgramControl;
}

/** Threads and asyncio tasks: where each is, and who waits for whom. */
export function ThreadsPanel({ program, selection, control }: ThreadsPanelProps) {
  const hold = holdOf(program);
  const id = program.session_id;
  const isAlive = ["paused", "running", "waiting_for_input"].includes(program.status);
  const canRead = useCanRead() && isAlive;
  const threads = useQuery({
    ...threadsQuery(id, hold),
    enabled: canRead,
    placeholderData: (before) => before,
  });
  const tasks = useQuery({ ...tasksQuery(id, hold), enabled: canRead, placeholderData: (before) => before });
  const isAlone = (threads.data?.threads.length ?? 0) < 2 && (tasks.data?.tasks.length ?? 0) < 2;
  const deadlocks = useQuery({ ...deadlocksQuery(id, hold), enabled: canRead && !isAlone });
  const selected = selection.thread ?? program.thread_id;
  const refresh = () => void Promise.all([threads.refetch(), tasks.refetch(), deadlocks.refetch()]);
  const button = (
    <button type="button" className="quiet" onClick={refresh}>
      Look again
    </button>
  );
  const shown = isAlive ? (threads.data?.threads ?? []) : [];
  return (
    <Panel title="Threads and tasks" className="threads" aside={isAlive && !hold ? button : null}>
      <ProblemMessage problem={readingProblem(threads.error)} />
      {isAlive
        ? deadlocks.data?.cycles.map((cycle) => (
            <p key={cycle.message} className="problem" role="alert">
              {cycle.message}
            </p>
          ))
        : null}
      {threads.data?.message ? <p className="note">{threads.data.message}</p> : null}
      {shown.length ? (
        <ul className="thread-list fill" aria-label="Threads">
          {shown.map((thread) => (
            <ThreadRow
              key={thread.thread_id}
              thread={thread}
              isSelected={Boolean(hold) && thread.thread_id === selected}
              isHeld={Boolean(hold)}
              onSelect={selection.selectThread}
              control={control}
            />
          ))}
        </ul>
      ) : (
        <EmptyState>There are no threads while no program runs.</EmptyState>
      )}
      {isAlive && tasks.data?.tasks.length ? (
        <ul className="thread-list fill" aria-label="Tasks">
          {tasks.data.tasks.map((task, index) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: names of tasks need not differ
            <li key={index}>
              <button
                type="button"
                className="frame"
                onClick={() => task.location && selection.openPlace(task.location.file, task.location.line)}
              >
                <span className="cut">
                  {task.name} <span className="soft">{task.coroutine}</span>
                </span>
                <span className="soft cut">
                  {task.current ? "current" : describeWait(task)} · {formatPlace(task.location)}
                </span>
              </button>
            </li>
          ))}
        </ul>
      ) : null}
    </Panel>
  );
}

function describeWait(task: { state?: string; waiting_for?: Record<string, unknown> }): string {
  const awaited = task.waiting_for?.call ?? task.waiting_for?.name ?? task.waiting_for?.kind;
  return typeof awaited === "string" ? `waits for ${awaited}` : (task.state ?? "");
}

interface ThreadRowProps {
  thread: Thread;
  isSelected: boolean;
  /** Whether the program is at a stop. */
  isHeld: boolean;
  onSelect: (thread: number) => void;
  control: ProgramControl;
}

function ThreadRow({ thread, isSelected, isHeld, onSelect, control }: ThreadRowProps) {
  const id = thread.thread_id ?? 0;
  const isPaused = thread.status === "paused";
  return (
    <li className="thread">
      <button
        type="button"
        className="frame"
        aria-current={isSelected ? "true" : undefined}
        disabled={!isHeld}
        onClick={() => onSelect(id)}
      >
        <span className="cut">{thread.name}</span>
        <span className="soft cut">{formatPlace(thread.location)}</span>
      </button>
      <Status of={thread.blocked ? "blocked" : (thread.status ?? "")} />
      {isPaused ? (
        <button
          type="button"
          className="quiet"
          aria-label={`Run ${thread.name}`}
          onClick={() => control.continueThread(id)}
        >
          Run
        </button>
      ) : (
        <button
          type="button"
          className="quiet"
          aria-label={`Hold ${thread.name}`}
          onClick={() => control.pauseThread(id)}
        >
          Hold
        </button>
      )}
    </li>
  );
}
