import { useQuery } from "@tanstack/react-query";
import { type KeyboardEvent, useEffect, useId, useRef, useState } from "react";

import { api, bodyOf } from "../api/client";
import { LineHistory } from "./line-history";
import { stopKey } from "./queries";
import { useCanRead } from "./stop-reading";

interface ConsoleInputProps {
  session: string;
  hold: string;
  frame: number;
  /** The function in whose frame it is evaluated. */
  where: string;
  onEnter: (text: string) => void;
}

const histories = new Map<string, LineHistory>();
function historyOf(session: string): LineHistory {
  const history = histories.get(session) ?? new LineHistory();
  histories.set(session, history);
  return history;
}

const PAUSE = 80;
const SHOWN = 50;

/** Completions are asked for where a name or an attribute is being typed, once typing pauses. */
function useCompletions({ session, hold, frame }: ConsoleInputProps, typed: string | null) {
  const canRead = useCanRead();
  const [text, setText] = useState<string | null>(null);
  useEffect(() => {
    const timer = setTimeout(() => setText(typed), PAUSE);
    return () => clearTimeout(timer);
  }, [typed]);
  const isWanted = text !== null && text === typed && hold !== "" && /[A-Za-z_][\w.]*$|\.$/.test(text);
  const { data } = useQuery({
    queryKey: [...stopKey(session, hold), "completions", frame, text],
    enabled: isWanted && canRead,
    staleTime: Number.POSITIVE_INFINITY,
    queryFn: ({ signal }) =>
      bodyOf(
        api.POST("/sessions/{session_id}/completions", {
          signal,
          params: { path: { session_id: session } },
          body: { text: text ?? "", frame_id: frame, hold_id: hold },
        }),
      ),
  });
  return isWanted ? (data?.targets ?? []).slice(0, SHOWN) : [];
}

/** A line of Python: up and down are the lines before, and what fits is offered while one types. */
export function ConsoleInput(props: ConsoleInputProps) {
  const [text, setText] = useState("");
  const [typed, setTyped] = useState<string | null>(null); // null: nothing is offered
  const [active, setActive] = useState(-1);
  const list = useId();
  const history = historyOf(props.session);
  const targets = useCompletions(props, typed);
  const isOpen = targets.length > 0;
  const activeOption = useRef<HTMLDivElement>(null);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the active one must be in sight
  useEffect(() => {
    activeOption.current?.scrollIntoView({ block: "nearest" });
  }, [active]);
  const offer = (next: string | null) => {
    setTyped(next);
    setActive(-1);
  };
  const accept = (index: number) => {
    const target = targets[index];
    if (!target) return;
    setText(text.slice(0, target.start) + target.label + text.slice(target.start + target.length));
    offer(null);
  };
  const enter = () => {
    if (!text.trim() || !props.hold) return;
    history.add(text);
    props.onEnter(text);
    setText("");
    offer(null);
  };
  const moveInHistory = (step: -1 | 1) => {
    const line = history.move(step, text);
    if (line !== null) setText(line);
    offer(null);
  };
  const press = (event: KeyboardEvent) => {
    const step = { ArrowUp: -1, ArrowDown: 1 }[event.key] as -1 | 1 | undefined;
    if (step && isOpen) setActive((active + step + targets.length) % targets.length);
    else if (step) moveInHistory(step);
    else if (event.key === "Tab" && isOpen && !event.shiftKey) accept(Math.max(0, active));
    else if (event.key === "Enter" && isOpen && active >= 0) accept(active);
    else if (event.key === "Enter") enter();
    else if (event.key === "Escape" && isOpen) offer(null);
    else return;
    event.preventDefault();
  };
  return (
    <div className="console-input">
      <span aria-hidden="true">&gt;&gt;&gt;</span>
      <input
        className="mono"
        role="combobox"
        aria-label={props.where ? `Evaluate in ${props.where}` : "Evaluate"}
        aria-expanded={isOpen}
        aria-controls={list}
        aria-autocomplete="list"
        aria-activedescendant={active >= 0 ? `${list}-${active}` : undefined}
        autoComplete="off"
        autoCapitalize="off"
        spellCheck={false}
        disabled={!props.hold}
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          offer(event.target.value);
        }}
        onBlur={() => offer(null)}
        onKeyDown={press}
      />
      <div id={list} role="listbox" aria-label="Completions" className={isOpen ? "completions" : "unseen"}>
        {targets.map((target, index) => (
          // biome-ignore lint/a11y/useFocusableInteractive: the box keeps the focus
          <div
            key={target.label}
            id={`${list}-${index}`}
            role="option"
            aria-selected={index === active}
            ref={index === active ? activeOption : null}
            onPointerDown={(event) => {
              event.preventDefault(); // the box keeps the focus
              accept(index);
            }}
          >
            <span className="mono">{target.label}</span>
            <span className="soft">{target.type}</span>
          </div>
        ))}
      </div>
    </div>
  );
}
