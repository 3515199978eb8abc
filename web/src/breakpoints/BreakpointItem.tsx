import { useMutation, useQueryClient } from "@tanstack/react-query";
import { Switch } from "react-aria-components";

import { api, bodyOf } from "../api/client";
import { formatCount } from "../ui/format";
import { ProblemMessage } from "../ui/parts";
import { type CallBreakpoint, describeMatch } from "./breakpoint-fields";

const MOMENTS: Record<string, string> = {
  before: "before they run",
  after: "after they returned",
  exception: "when they raise",
};

interface BreakpointItemProps {
  point: CallBreakpoint;
  isEdited: boolean;
  onEdit: () => void;
  onRemove: () => void;
}

/** One breakpoint: what it matches, what it has counted, and what is probably wrong with it. */
export function BreakpointItem({ point, isEdited, onEdit, onRemove }: BreakpointItemProps) {
  const client = useQueryClient();
  const name = describeMatch(point);
  const changed = useMutation({
    mutationFn: (enabled: boolean) =>
      bodyOf(
        api.PATCH("/api/breakpoints/{breakpoint_id}", {
          params: { path: { breakpoint_id: point.id } },
          body: { enabled },
        }),
      ),
    onSettled: () => client.invalidateQueries({ queryKey: ["breakpoints"] }),
  });
  return (
    <li className={point.enabled ? "breakpoint" : "breakpoint off"} aria-current={isEdited || undefined}>
      <Switch
        className="switch-box"
        aria-label={`Enabled: ${name}`}
        isSelected={point.enabled}
        isDisabled={changed.isPending}
        onChange={(enabled) => changed.mutate(enabled)}
      >
        <span className="switch-track" />
      </Switch>
      <div className="grow">
        <div className="mono breakpoint-name">{name}</div>
        <div className="soft">
          {point.action
            ? `decided at once: ${String(point.action.action)}`
            : `held ${MOMENTS[point.when] ?? point.when}`}
          {point.condition ? (
            <>
              {" "}
              if <code>{point.condition}</code>
            </>
          ) : null}
          {point.hit_condition ? (
            <>
              {" "}
              on hits <code>{point.hit_condition}</code>
            </>
          ) : null}
          {point.session_id ? ` only in ${point.session_id}` : null}
        </div>
        <BreakpointAdvice point={point} />
        <ProblemMessage problem={changed.error} />
      </div>
      <span className="breakpoint-hits">
        {formatCount(point.hits)} hit{point.hits === 1 ? "" : "s"}
      </span>
      <div className="actions">
        <button type="button" onClick={onEdit}>
          Edit<span className="unseen"> {name}</span>
        </button>
        <button type="button" className="danger" onClick={onRemove}>
          Delete<span className="unseen"> {name}</span>
        </button>
      </div>
    </li>
  );
}

/** What the server says about a breakpoint that probably misses. */
function BreakpointAdvice({ point }: { point: CallBreakpoint }) {
  const warnings = point.warnings ?? [];
  const reasons = point.condition_errors ?? [];
  const isPlain = !warnings.length && !reasons.length && !point.message;
  if (isPlain) return <div className="soft">{describeMatches(point.matches ?? 0)}</div>;
  return (
    <ul className="advice">
      {warnings.map((text) => (
        <li key={text}>{text}</li>
      ))}
      {reasons.map(({ error, count }) => (
        <li key={error}>
          could not judge {formatCount(count)} call{count === 1 ? "" : "s"}: {error}
        </li>
      ))}
      {point.message ? <li>{point.message}</li> : null}
    </ul>
  );
}

const describeMatches = (count: number): string =>
  count
    ? `matches ${formatCount(count)} known function${count === 1 ? "" : "s"}`
    : "matches no known function yet";
