import { useQuery } from "@tanstack/react-query";
import { type FormEvent, lazy, Suspense, useMemo, useRef, useState } from "react";

import type { SourceMarks } from "../code/source-marks";
import { useCommand } from "../ui/commands";
import { baseName } from "../ui/format";
import { EmptyState, KeyHint, Panel, ProblemMessage } from "../ui/parts";
import type { Breakpoints } from "./breakpoint-edits";
import { type EditedBreakpoint, findExecutableLine, listSourceBreakpoints } from "./breakpoint-facts";
import { listLineValues } from "./line-values";
import type { Program, Variable } from "./program-state";
import { sourceQuery } from "./queries";

const SourceView = lazy(() => import("../code/SourceView"));

export interface ShownPlace {
  file: string;
  /** The line that runs there; null if none does. */
  current: number | null;
  /** The line that was asked for. */
  line: number | null;
}

interface SourcePanelProps {
  program: Program;
  place: ShownPlace | null;
  locals: Variable[];
  breakpoints: Breakpoints;
  /** Files that one may want to open. */
  files: string[];
  onEdit: (edited: EditedBreakpoint) => void;
  onOpen: (file: string) => void;
}

/** The source of a file, with the held line and the breakpoints. */
export function SourcePanel(props: SourcePanelProps) {
  const { program, place, files, onOpen } = props;
  const file = place?.file ?? "";
  // A piece of code that was launched as text is in no file.
  const code = file === "<string>" ? program.launch?.code : null;
  const source = useQuery({
    ...sourceQuery(program.session_id, file, program.run),
    enabled: Boolean(file) && typeof code !== "string",
    placeholderData: (before) => (before?.path === file ? before : undefined),
  });
  const text = code ?? source.data?.content;
  return (
    <Panel
      title={file ? baseName(file) : "Source"}
      className="source"
      aside={<FileForm key={file} file={file} files={files} onOpen={onOpen} />}
    >
      <ProblemMessage problem={source.error} />
      {place && text !== undefined ? (
        <FileSource {...props} place={place} text={text} executable={source.data?.executable_lines} />
      ) : place ? (
        <div className="source-view" />
      ) : (
        <EmptyState>
          The source appears when the program stops: pause it, or open a file and click beside a line.
        </EmptyState>
      )}
    </Panel>
  );
}

interface FileSourceProps extends SourcePanelProps {
  place: ShownPlace;
  text: string;
  executable: number[] | undefined;
}

function FileSource({ place, text, executable, locals, breakpoints, onEdit }: FileSourceProps) {
  const { file, current, line } = place;
  const caret = useRef(line ?? current ?? 1);
  const toggle = (at: number) => {
    const isThere = breakpoints.find(file, at) !== undefined;
    breakpoints.toggle(file, isThere ? at : findExecutableLine(at, executable));
  };
  const edit = (at: number) => {
    const there = breakpoints.find(file, at);
    onEdit(there ? { breakpoint: there } : { file, line: findExecutableLine(at, executable) });
  };
  useCommand("Set or remove a breakpoint at the caret", "F9", () => toggle(caret.current));
  useCommand("Edit the breakpoint at the caret", "shift+F9", () => edit(caret.current));
  const { list } = breakpoints;
  const marks: SourceMarks = useMemo(
    () => ({
      current,
      shown: line,
      breakpoints: listSourceBreakpoints(list, file),
      executable: executable ? new Set(executable) : null,
      values: current === null ? "" : listLineValues(text.split("\n")[current - 1] ?? "", locals),
    }),
    [current, line, list, file, executable, text, locals],
  );
  return (
    <>
      <Suspense fallback={<div className="source-view" />}>
        <SourceView
          text={text}
          name={baseName(file)}
          marks={marks}
          onGutterClick={toggle}
          onGutterMenu={edit}
          onCaret={(at) => {
            caret.current = at;
          }}
        />
      </Suspense>
      <div className="source-foot">
        <button type="button" className="quiet" onClick={() => toggle(caret.current)}>
          Breakpoint at the caret <KeyHint of="F9" />
        </button>
        <button type="button" className="quiet" onClick={() => edit(caret.current)}>
          Condition… <KeyHint of="shift+F9" />
        </button>
      </div>
    </>
  );
}

function FileForm({
  file,
  files,
  onOpen,
}: {
  file: string;
  files: string[];
  onOpen: (file: string) => void;
}) {
  const [path, setPath] = useState(file);
  const open = (event: FormEvent) => {
    event.preventDefault();
    if (path.trim()) onOpen(path.trim());
  };
  return (
    <form className="file-form" onSubmit={open}>
      <input
        className="mono"
        aria-label="Open a file by its path"
        placeholder="Open a file by its path"
        list="known-files"
        value={path}
        onChange={(event) => {
          setPath(event.target.value);
          if (files.includes(event.target.value)) onOpen(event.target.value);
        }}
      />
      <datalist id="known-files">
        {files.map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
    </form>
  );
}
