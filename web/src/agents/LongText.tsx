import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import { formatCount } from "../ui/format";
import { ProblemMessage } from "../ui/parts";
import { contentQuery } from "./agent-queries";

interface LongTextProps {
  session: string;
  text: string;
  /** The length of all of it, if the server has cut it. */
  size?: number | undefined;
  /** Where all of it is. */
  cid?: string | undefined;
  /** How many characters are shown at first. */
  most?: number;
  label: string;
}

/** A text of a recording. A long one is cut, and a button shows all of it. */
export function LongText({ session, text, size, cid, most = 600, label }: LongTextProps) {
  const [isWhole, setWhole] = useState(false);
  const whole = useQuery({ ...contentQuery(session, cid ?? ""), enabled: isWhole && cid !== undefined });
  const length = size ?? text.length;
  const shown = isWhole ? (whole.data ?? text) : text.slice(0, most);
  return (
    <div className="long-text">
      <pre className="body-text">{shown}</pre>
      {length > shown.length && !isWhole ? (
        <button type="button" className="quiet" onClick={() => setWhole(true)}>
          Show all {formatCount(length)} characters<span className="unseen"> of {label}</span>
        </button>
      ) : null}
      {isWhole && length > shown.length && !whole.isFetching ? (
        <p className="soft">These are the first {formatCount(shown.length)} characters.</p>
      ) : null}
      {isWhole && length > most ? (
        <button type="button" className="quiet" onClick={() => setWhole(false)}>
          Show less<span className="unseen"> of {label}</span>
        </button>
      ) : null}
      <ProblemMessage problem={whole.error} />
    </div>
  );
}
