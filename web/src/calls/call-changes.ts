import { useEffect, useRef } from "react";

import { eventStream } from "../live/event-stream";
import { concernsCalls } from "./call-messages";

const PAUSE = 200;

/** Do something when calls were recorded, held or decided, at most five times a second. */
export function useCallChanges(run: () => void): void {
  const latest = useRef(run);
  useEffect(() => {
    latest.current = run;
  });
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | null = null;
    const fire = () => {
      timer = null;
      latest.current();
    };
    const stop = eventStream.listen((message) => {
      if (timer === null && concernsCalls(message)) timer = setTimeout(fire, PAUSE);
    });
    return () => {
      stop();
      if (timer !== null) clearTimeout(timer);
    };
  }, []);
}
