import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";

import { api, bodyOf, type Schemas } from "../api/client";

type NewSession = Schemas["CreateSession"];

/** Make a session that starts at once, and go to its page. */
export function useLaunch() {
  const client = useQueryClient();
  const navigate = useNavigate();
  return useMutation({
    mutationFn: async (makeBody: () => Partial<NewSession>) =>
      bodyOf(api.POST("/sessions", { body: makeBody() as NewSession })),
    onSuccess: (session) => navigate({ to: "/programs/$id", params: { id: session.session_id } }),
    onSettled: () => client.invalidateQueries({ queryKey: ["launches"] }),
  });
}
