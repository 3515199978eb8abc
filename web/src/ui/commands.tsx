import { createContext, type ReactNode, use, useEffect, useRef, useState } from "react";

/** Something that one can do here, by its key or from the palette. */
export interface Command {
  label: string;
  /** As one says it: `F5`, `shift+F11`, `ctrl+k`, `g h`. Left out if only the palette has it. */
  key?: string | undefined;
  run: () => void;
}

const Commands = createContext<Set<Command>>(new Set());
const CHORD_TIME = 1_000;

/** The name of a pressed key. */
export function nameKey(
  event: Pick<KeyboardEvent, "key" | "shiftKey" | "ctrlKey" | "metaKey" | "altKey">,
): string {
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("ctrl");
  if (event.altKey) parts.push("alt");
  if (event.shiftKey && event.key.length > 1) parts.push("shift");
  parts.push(event.key.length === 1 ? event.key.toLowerCase() : event.key);
  return parts.join("+");
}

/** Whether keys are text where they are pressed. Function keys and ctrl still count there. */
export function isTyping(target: EventTarget | null): boolean {
  if (target instanceof HTMLElement && target.matches("[readonly], [aria-readonly=true]")) return false;
  if (target instanceof HTMLInputElement) return !/^(range|checkbox|radio|button)$/.test(target.type);
  return (
    target instanceof HTMLElement && (target.isContentEditable || /^(TEXTAREA|SELECT)$/.test(target.tagName))
  );
}

/** Whether a dialog stands before the page: nobody means what is hidden behind it. */
const isInDialog = (target: EventTarget | null) =>
  target instanceof Element && target.closest("[role=dialog]") !== null;

const isPlainKey = (name: string) => name.length === 1 || ["Enter", "Escape"].includes(name);

/** Runs commands by their keys. The command that was added last has a key for itself. */
export function CommandProvider({ children }: { children: ReactNode }) {
  const [commands] = useState(() => new Set<Command>());
  useEffect(() => {
    let first = "";
    let firstAt = 0;
    const find = (key: string) => [...commands].reverse().find((command) => command.key === key);
    const press = (event: KeyboardEvent) => {
      const key = nameKey(event);
      if (event.defaultPrevented || (isPlainKey(key) && isTyping(event.target))) return;
      const chord = performance.now() - firstAt < CHORD_TIME ? `${first} ${key}` : "";
      first = key;
      firstAt = performance.now();
      const command = (chord && find(chord)) || find(key);
      if (!command) return;
      event.preventDefault(); // F5 must not reload the page while it means Continue
      if (!isInDialog(event.target)) command.run();
    };
    window.addEventListener("keydown", press);
    return () => window.removeEventListener("keydown", press);
  }, [commands]);
  return <Commands value={commands}>{children}</Commands>;
}

/** Offer a command while the component is shown, and `enabled` is true. */
export function useCommand(label: string, key: string | undefined, run: () => void, enabled = true): void {
  const commands = use(Commands);
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    if (!enabled) return;
    const command = { label, key, run: () => latest.current() };
    commands.add(command);
    return () => void commands.delete(command);
  }, [commands, key, label, enabled]);
}

/** Every command that is possible now, the newest of each key. */
export function useCommandList(): () => Command[] {
  const commands = use(Commands);
  return () => {
    const byName = new Map([...commands].map((command) => [command.key ?? command.label, command]));
    return [...byName.values()];
  };
}
