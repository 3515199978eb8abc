import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { api, bodyOf, type Schemas } from "../api/client";
import { baseName, formatClock } from "../ui/format";
import { EmptyState, Panel, ProblemMessage } from "../ui/parts";
import { joinWords, type LaunchFields, readLaunch } from "./launch-request";
import { useLaunch } from "./launching";
import { launchesQuery } from "./queries";

/** The programs that were launched lately: again as they were, or changed. */
export function RecentLaunches({ onChange }: { onChange: (fields: LaunchFields) => void }) {
  const client = useQueryClient();
  const { data, error } = useQuery(launchesQuery);
  const launch = useLaunch();
  const forgetting = useMutation({
    mutationFn: () => bodyOf(api.DELETE("/api/launches")),
    onSettled: () => client.invalidateQueries({ queryKey: ["launches"] }),
  });
  const launches = data?.launches ?? [];
  const forget = (
    <button type="button" className="quiet" onClick={() => forgetting.mutate()}>
      Forget them
    </button>
  );
  return (
    <Panel title="Recent launches" aside={launches.length ? forget : null}>
      <ProblemMessage problem={error ?? launch.error ?? forgetting.error} />
      {launches.length ? (
        <ul className="launches fill" aria-label="Recent launches">
          {launches.map((recent) => (
            <li key={`${recent.launched_at} ${recent.target}`}>
              <div className="grow cut">
                <div className="mono cut">{describeLaunch(recent)}</div>
                <div className="soft cut">
                  in {recent.cwd} · {formatClock(recent.launched_at).slice(0, 5)}
                </div>
                {recent.env_names.length ? (
                  <div className="soft cut">
                    without {recent.env_names.join(", ")}: their values were not kept
                  </div>
                ) : null}
              </div>
              <button
                type="button"
                onClick={() => launch.mutate(() => ({ name: recent.name, launch: recent.launch as never }))}
              >
                Launch<span className="unseen"> {describeLaunch(recent)}</span> again
              </button>
              <button type="button" className="quiet" onClick={() => onChange(readLaunch(recent.launch))}>
                Change<span className="unseen"> {describeLaunch(recent)}</span>…
              </button>
            </li>
          ))}
        </ul>
      ) : (
        <EmptyState command="holdfast run main.py --break main.py:10">
          What you launch is remembered here. From a terminal, a program starts with
        </EmptyState>
      )}
    </Panel>
  );
}

function describeLaunch({ target, launch }: Schemas["RecentLaunch"]): string {
  const what = launch.module ? `-m ${launch.module}` : launch.script ? baseName(launch.script) : target;
  return [what, joinWords(launch.args ?? [])].filter(Boolean).join(" ");
}
