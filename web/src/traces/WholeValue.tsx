import { useQuery } from "@tanstack/react-query";

import { valueQuery } from "../calls/call-queries";
import { useAddressValue } from "../ui/address";
import { ProblemMessage } from "../ui/parts";

/** A button that shows the whole of a value whose text was cut. */
export function WholeValue({ name, cid }: { name: string; cid: string }) {
  const [look, setLook] = useAddressValue("look");
  const isShown = look === cid;
  return (
    <>
      <button
        type="button"
        className="quiet small"
        aria-expanded={isShown}
        onClick={() => setLook(isShown ? "" : cid)}
      >
        Whole value<span className="unseen"> of {name}</span>
      </button>
      {isShown ? <StoredValue name={name} cid={cid} /> : null}
    </>
  );
}

function StoredValue({ name, cid }: { name: string; cid: string }) {
  const { data, error } = useQuery(valueQuery(cid));
  return (
    <>
      <ProblemMessage problem={error} />
      {data ? (
        <pre className="whole-value" tabIndex={0} role="region" aria-label={`The whole value of ${name}`}>
          {data.literal ?? data.text}
        </pre>
      ) : error ? null : (
        <span className="soft">Reading the value…</span>
      )}
    </>
  );
}
