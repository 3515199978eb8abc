import { useEffect, useRef } from "react";

import { useAddressChange, useAddressValue } from "../ui/address";
import { holdOf, type Program } from "./program-state";

/** What is looked at: it is in the address. */
export interface Selection {
  /** A thread other than the one that stopped. */
  thread: number | undefined;
  /** How deep in the stack; 0 is the innermost frame. */
  frame: number;
  /** A file that was opened by hand, and its line. */
  file: string;
  line: number | undefined;
  selectThread: (thread: number) => void;
  selectFrame: (frame: number) => void;
  openPlace: (file: string, line?: number) => void;
}

const toNumber = (text: string): number | undefined => (/^\d+$/.test(text) ? Number(text) : undefined);

/** The selection of the address. The next stop is looked at where it is, so it clears the selection. */
export function useSelection(program: Program | undefined): Selection {
  const [thread] = useAddressValue("thread");
  const [frame] = useAddressValue("frame");
  const [file] = useAddressValue("file");
  const [line] = useAddressValue("line");
  const change = useAddressChange();
  const hold = holdOf(program);
  const lastHold = useRef<string | null>(null);
  useEffect(() => {
    if (!program) return;
    const isNew = lastHold.current !== null && hold !== "" && hold !== lastHold.current;
    if (lastHold.current === null || hold) lastHold.current = hold;
    if (isNew) change({ thread: "", frame: "", file: "", line: "" });
  });
  const chosen = toNumber(thread);
  return {
    thread: chosen === program?.thread_id ? undefined : chosen,
    frame: toNumber(frame) ?? 0,
    file,
    line: toNumber(line),
    selectThread: (next) =>
      change({ thread: next === program?.thread_id ? "" : String(next), frame: "", file: "", line: "" }),
    selectFrame: (next) => change({ frame: next ? String(next) : "", file: "", line: "" }),
    openPlace: (next, at) => change({ file: next, line: at ? String(at) : "" }, true),
  };
}
