import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";

import { api, bodyOf } from "../api/client";
import type { BreakpointFields, EditedBreakpoint, ExceptionFilter } from "./breakpoint-facts";
import type { Breakpoint } from "./program-state";
import { breakpointsQuery } from "./queries";

/** The breakpoints of a session, and every way to change them. */
export function useBreakpoints(id: string) {
  const client = useQueryClient();
  const { data, error } = useQuery(breakpointsQuery(id));
  const list = data?.breakpoints ?? [];
  const session_id = id;
  const mutationKey = ["breakpoint work", id];
  const onSettled = async () => {
    // While more is to be done, an answer would show what is about to change.
    if (client.isMutating({ mutationKey }) > 1) return;
    await client.invalidateQueries({ queryKey: ["breakpoints", id] });
  };
  const remove = (breakpoint_id: string) =>
    bodyOf(
      api.DELETE("/sessions/{session_id}/breakpoints/{breakpoint_id}", {
        params: { path: { session_id, breakpoint_id } },
      }),
    );
  const add = (place: { file: string; line: number } | { function: string }, fields?: BreakpointFields) =>
    bodyOf(
      api.POST("/sessions/{session_id}/breakpoints", {
        params: { path: { session_id } },
        body: { ...place, replace: "line" in place, ...withNulls(fields), enabled: fields?.enabled ?? true },
      }),
    );
  const change = (breakpoint_id: string, fields: Partial<BreakpointFields>) =>
    bodyOf(
      api.PATCH("/sessions/{session_id}/breakpoints/{breakpoint_id}", {
        params: { path: { session_id, breakpoint_id } },
        body: withNulls(fields),
      }),
    );
  const work = useMutation({
    mutationKey,
    scope: { id: mutationKey.join(" ") },
    mutationFn: (errand: () => Promise<unknown>) => errand(),
    onSettled,
  });
  /** A box that is ticked shows it at once; the next answer says how it is. */
  const expectToBe = (change: Partial<NonNullable<typeof data>>) => {
    void client.cancelQueries({ queryKey: ["breakpoints", id] });
    client.setQueryData(breakpointsQuery(id).queryKey, (before) => before && { ...before, ...change });
  };
  const at = (file: string, line: number) => list.filter((each) => each.file === file && each.line === line);
  return {
    list,
    exceptions: data?.exception_breakpoints,
    problem: error ?? work.error,
    find: (file: string, line: number) => at(file, line)[0],
    toggle: (file: string, line: number) =>
      work.mutate(async () => {
        const there = at(file, line);
        for (const each of there) await remove(each.breakpoint_id);
        if (!there.length) await add({ file, line });
      }),
    addFunction: (name: string) => work.mutateAsync(() => add({ function: name })),
    save: (edited: EditedBreakpoint, fields: BreakpointFields) =>
      work.mutateAsync(() =>
        "breakpoint" in edited ? change(edited.breakpoint.breakpoint_id, fields) : add(edited, fields),
      ),
    enable: (breakpoint: Breakpoint, enabled: boolean) => {
      const { breakpoint_id } = breakpoint;
      const breakpoints = list.map((each) =>
        each.breakpoint_id === breakpoint_id ? { ...each, enabled } : each,
      );
      expectToBe({ breakpoints });
      work.mutate(() => change(breakpoint_id, { enabled }));
    },
    remove: (breakpoint: Breakpoint) => work.mutateAsync(() => remove(breakpoint.breakpoint_id)),
    removeAll: () =>
      work.mutate(() =>
        bodyOf(api.DELETE("/sessions/{session_id}/breakpoints", { params: { path: { session_id } } })),
      ),
    setExceptions: (filters: ExceptionFilter[]) => {
      const types = data?.exception_breakpoints.types ?? [];
      expectToBe({ exception_breakpoints: { filters, types } });
      work.mutate(() =>
        bodyOf(
          api.POST("/sessions/{session_id}/exception-breakpoints", {
            params: { path: { session_id } },
            body: { filters, types },
          }),
        ),
      );
    },
  };
}

export type Breakpoints = ReturnType<typeof useBreakpoints>;

/** A text that is empty stands for none. */
function withNulls(fields: Partial<BreakpointFields> = {}) {
  const entries = Object.entries(fields).map(([name, value]) => [name, value === "" ? null : value]);
  return Object.fromEntries(entries) as { [Name in keyof BreakpointFields]?: BreakpointFields[Name] | null };
}
