import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { api, bodyOf } from "../api/client";
import { ProblemMessage } from "../ui/parts";

interface InputBoxProps {
  session: string;
  /** What the program asks with; null while it does not wait for input. */
  prompt: string | null;
}

/** A line for the program's stdin. */
export function InputBox({ session, prompt }: InputBoxProps) {
  const [text, setText] = useState("");
  const sending = useMutation({
    mutationFn: (close: boolean) =>
      bodyOf(
        api.POST("/sessions/{session_id}/input", {
          params: { path: { session_id: session } },
          body: close ? { input: text, close } : { input: `${text}\n`, close },
        }),
      ),
    onSuccess: () => setText(""),
  });
  return (
    <form
      className={prompt === null ? "input-box" : "input-box asked-for"}
      onSubmit={(event) => {
        event.preventDefault();
        sending.mutate(false);
      }}
    >
      {prompt === null ? null : <span role="status">The program waits for input: </span>}
      <label className="row grow">
        <span className="mono">{prompt?.trim() || "Input"}</span>
        <input className="mono grow" value={text} onChange={(event) => setText(event.target.value)} />
      </label>
      <button type="submit" className={prompt === null ? "" : "primary"}>
        Send
      </button>
      <button type="button" className="quiet" onClick={() => sending.mutate(true)}>
        End of input
      </button>
      <ProblemMessage problem={sending.error} />
    </form>
  );
}
