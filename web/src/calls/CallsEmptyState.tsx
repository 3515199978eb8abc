import { useAddressChange, useAddressValue } from "../ui/address";
import { EmptyState } from "../ui/parts";
import type { FeedState } from "./call-feed";

const CODE = `from holdfast import debug_call, with_debug

with_debug("ON")
shop = with_debug(Shop())   # records every call of this object
debug_call(f, x)            # marks one call`;

/** How to get calls here, or why none fits. */
export function CallsEmptyState({ state }: { state: Pick<FeedState, "isLooking" | "problem"> }) {
  const [filter] = useAddressValue("filter");
  const [session] = useAddressValue("session");
  const changeAddress = useAddressChange();
  if (state.isLooking) return <p className="empty">Looking for calls…</p>;
  if (state.problem) return <p className="empty">No calls are shown.</p>;
  if (filter || session) {
    return (
      <EmptyState>
        No call fits{filter ? " the filter" : ""} yet. New ones that fit appear here.{" "}
        <button type="button" onClick={() => changeAddress({ filter: undefined, session: undefined }, true)}>
          Show all calls
        </button>
      </EmptyState>
    );
  }
  return (
    <EmptyState command="holdfast calls break 'Shop.*'">
      <p>
        No calls are recorded yet. Wrap an object with <code>with_debug</code>, and its calls appear here;{" "}
        <code>debug_call(f, x)</code> marks one call (an inline call):
      </p>
      <pre className="example">{CODE}</pre>
      <p>To hold them before they run:</p>
    </EmptyState>
  );
}
