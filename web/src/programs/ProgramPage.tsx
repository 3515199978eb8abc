import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useMemo, useState } from "react";

import { api, bodyOf } from "../api/client";
import { sessionQuery } from "../api/queries";
import { usePathParameter } from "../ui/address";
import { EmptyState, ProblemMessage } from "../ui/parts";
import { useBreakpoints } from "./breakpoint-edits";
import type { EditedBreakpoint } from "./breakpoint-facts";
import { ControlBar } from "./ControlBar";
import { type ProgramControl, useProgramControl } from "./control";
import { EndReport } from "./EndReport";
import { LowerTabs } from "./LowerTabs";
import { type Frame, holdOf, isProgram, type Program } from "./program-state";
import { localsQuery, PAGE, stackQuery } from "./queries";
import { type ShownPlace, SourcePanel } from "./SourcePanel";
import { StackPanel } from "./StackPanel";
import { type Selection, useSelection } from "./selection";
import { readingProblem, StopReading } from "./stop-reading";
import { ThreadsPanel } from "./ThreadsPanel";
import { VariablesPanel } from "./VariablesPanel";
import { WatchesPanel } from "./WatchesPanel";
import "./program.css";

const BreakpointDialog = lazy(() => import("./BreakpointDialog"));

/** A program: its source, its values, its stack, and every way to control it. */
export function ProgramPage() {
  const id = usePathParameter("id");
  const control = useProgramControl(id);
  // During a step its own answer says where the program is; one that is asked for meanwhile would flicker.
  const { data, error } = useQuery({ ...sessionQuery(id), enabled: !control.isBusy });
  if (error) return <ProblemMessage problem={error} />;
  if (data && !isProgram(data)) return <EmptyState>This session is of no program.</EmptyState>;
  if (!data) return null;
  return (
    <StopReading value={!control.isBusy}>
      <OpenProgram key={id} program={data} control={control} />
    </StopReading>
  );
}

function OpenProgram({ program, control }: { program: Program; control: ProgramControl }) {
  const id = program.session_id;
  const hold = holdOf(program);
  const navigate = useNavigate();
  const selection = useSelection(program);
  const breakpoints = useBreakpoints(id);
  const [edited, setEdited] = useState<EditedBreakpoint | null>(null);
  const [more, setMore] = useState({ hold: "", count: 0 }); // of a deep stack; the next one begins anew
  const selectedPages = Math.ceil((selection.frame + 1) / PAGE);
  const count = Math.max(selectedPages * PAGE, more.hold === hold ? more.count : 0);
  const stack = useQuery({
    ...stackQuery(id, hold, selection.thread, count),
    enabled: hold !== "" && !control.isBusy,
    placeholderData: (before) => before,
  });
  const frames = hold ? (stack.data?.frames ?? []) : [];
  const total = hold ? (stack.data?.total ?? 0) : 0;
  const frame = frames[selection.frame] ?? frames[0];
  const locals = useQuery({
    ...localsQuery(id, hold, frame?.id ?? 0),
    enabled: hold !== "" && !control.isBusy && frame?.id !== undefined,
  });
  const removing = useMutation({
    mutationFn: () => bodyOf(api.DELETE("/sessions/{session_id}", { params: { path: { session_id: id } } })),
    onSuccess: () => navigate({ to: "/programs" }),
  });
  const place = choosePlace(program, selection, frame);
  const files = useMemo(
    () =>
      listFiles([
        program.launch?.script,
        ...breakpoints.list.map(({ file }) => file),
        ...frames.map(({ file }) => file),
      ]),
    [program.launch?.script, breakpoints.list, frames],
  );
  const isOver = program.status === "terminated" || program.status === "failed";
  return (
    <div className="program">
      <ControlBar
        program={program}
        control={control}
        thread={selection.thread}
        frame={frame?.id ?? 0}
        onRemove={() => removing.mutate()}
      />
      <div className="program-work">
        <div className="program-main">
          <ProblemMessage problem={breakpoints.problem ?? removing.error} />
          {isOver ? <EndReport program={program} control={control} onOpen={selection.openPlace} /> : null}
          <SourcePanel
            program={program}
            place={place}
            locals={place?.current && locals.data ? locals.data.variables : []}
            breakpoints={breakpoints}
            files={files}
            onEdit={setEdited}
            onOpen={selection.openPlace}
          />
        </div>
        <div className="program-side">
          <VariablesPanel session={id} hold={hold} frame={frame} depth={total - selection.frame} />
          <WatchesPanel program={program} />
          <StackPanel
            frames={frames}
            total={total}
            selected={Math.min(selection.frame, Math.max(0, frames.length - 1))}
            onSelect={selection.selectFrame}
            onMore={() => setMore({ hold, count: 10 * count })}
            message={stack.data?.message}
            problem={hold ? readingProblem(stack.error) : null}
          />
          <ThreadsPanel program={program} selection={selection} control={control} />
        </div>
        <LowerTabs
          program={program}
          frame={frame}
          breakpoints={breakpoints}
          onEdit={setEdited}
          onOpen={selection.openPlace}
        />
      </div>
      {edited ? (
        <Suspense>
          <BreakpointDialog edited={edited} breakpoints={breakpoints} onClose={() => setEdited(null)} />
        </Suspense>
      ) : null}
    </div>
  );
}

/** The place to show: what was opened by hand, else the frame, else where it ended, else its script. */
function choosePlace(program: Program, selection: Selection, frame: Frame | undefined): ShownPlace | null {
  const { exception, launch } = program;
  const isOver = program.status === "terminated";
  const at = frame ?? (isOver ? (exception?.frames?.[0] ?? exception?.location) : null);
  if (selection.file) {
    const current = at && at.file === selection.file && frame ? (at.line ?? null) : null;
    return { file: selection.file, current, line: selection.line ?? null };
  }
  if (at?.file)
    return {
      file: at.file,
      current: frame ? (at.line ?? null) : null,
      line: frame ? null : (at.line ?? null),
    };
  const file = launch?.script
    ? toAbsolute(launch.script, launch.cwd ?? program.cwd)
    : launch?.code
      ? "<string>"
      : "";
  return file ? { file, current: null, line: null } : null;
}

/** A path of the launch as the breakpoints have it. */
const toAbsolute = (path: string, folder: string | null | undefined): string =>
  path.startsWith("/") || !folder ? path : `${folder.replace(/\/$/, "")}/${path}`;

const listFiles = (files: (string | undefined | null)[]): string[] => [
  ...new Set(files.filter((file): file is string => Boolean(file?.startsWith("/")))),
];
