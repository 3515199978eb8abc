import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { api, bodyOf } from "../api/client";
import { holdsQuery } from "../api/queries";
import { useCommand } from "../ui/commands";
import { KeyHint, ProblemMessage } from "../ui/parts";

/** Continues every held call and agent, if there are several. */
export function ResumeAll() {
  const client = useQueryClient();
  const holds = (useQuery(holdsQuery).data?.holds ?? []).filter((hold) => hold.kind !== "program");
  const resumed = useMutation({
    mutationFn: () => bodyOf(api.POST("/api/holds/continue", { body: { by: "page" } })),
    onSettled: () => client.invalidateQueries({ queryKey: ["holds"] }),
  });
  const isPossible = holds.length > 1 && !resumed.isPending;
  useCommand("Resume all held calls and agents", "r", () => resumed.mutate(), isPossible);
  if (holds.length < 2) return null;
  return (
    <>
      <button type="button" disabled={!isPossible} onClick={() => resumed.mutate()}>
        Resume all ({holds.length}) <KeyHint of="r" />
      </button>
      <ProblemMessage problem={resumed.error} />
    </>
  );
}
