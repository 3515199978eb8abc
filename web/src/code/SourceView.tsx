import { standardKeymap } from "@codemirror/commands";
import { python } from "@codemirror/lang-python";
import { EditorState, type Extension } from "@codemirror/state";
import {
  EditorView,
  gutter,
  gutterLineClass,
  highlightActiveLine,
  highlightActiveLineGutter,
  keymap,
  lineNumbers,
} from "@codemirror/view";
import { useEffect, useRef } from "react";

import { sourceLook } from "./source-look";
import {
  lineDecorations,
  listDots,
  marksField,
  paleNumbers,
  type SourceMarks,
  setMarks,
} from "./source-marks";

export interface SourceViewProps {
  text: string;
  /** What the text is of, as one says it: `orders.py`. */
  name: string;
  marks: SourceMarks;
  onGutterClick: (line: number) => void;
  /** A right click, or a long touch, on a line's gutter. */
  onGutterMenu: (line: number) => void;
  /** The caret is at another line. */
  onCaret: (line: number) => void;
}

type Handlers = Pick<SourceViewProps, "onGutterClick" | "onGutterMenu" | "onCaret">;

/** Source that one reads: the held line, and breakpoints in the gutter. */
export default function SourceView({ text, name, marks, ...handlers }: SourceViewProps) {
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef<Handlers>(handlers);
  useEffect(() => {
    latest.current = handlers;
  });
  useEffect(() => {
    const state = EditorState.create({ doc: text, extensions: listExtensions(name, latest) });
    const editor = new EditorView({ parent: host.current as HTMLElement, state });
    view.current = editor;
    return () => editor.destroy();
  }, [text, name]);
  const target = marks.shown ?? marks.current;
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is another editor
  useEffect(() => view.current?.dispatch({ effects: setMarks.of(marks) }), [marks, text, name]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: another text is another editor
  useEffect(() => {
    if (view.current && target !== null) showLine(view.current, target);
  }, [target, text, name]);
  return <div className="source-view" ref={host} />;
}

/** Bring a line into sight and the caret to it; what is in sight already does not move. */
function showLine(view: EditorView, line: number): void {
  const { doc } = view.state;
  if (line < 1 || line > doc.lines) return;
  const at = doc.line(line).from;
  view.dispatch({
    selection: { anchor: at },
    effects: EditorView.scrollIntoView(at, { y: "nearest", yMargin: 60 }),
  });
}

const lineAt = (view: EditorView, position: number) => view.state.doc.lineAt(position).number;

function listExtensions(name: string, latest: { current: Handlers }): Extension[] {
  const nonce = document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce;
  return [
    nonce ? EditorView.cspNonce.of(nonce) : [],
    EditorState.readOnly.of(true),
    // It has a caret, so that keys can move in it, and no keyboard comes up on a phone.
    EditorView.contentAttributes.of({
      "aria-label": `Source of ${name}`,
      "aria-readonly": "true",
      inputmode: "none",
      tabindex: "0",
    }),
    keymap.of(standardKeymap),
    EditorView.updateListener.of((update) => {
      if (update.selectionSet) latest.current.onCaret(lineAt(update.view, update.state.selection.main.head));
    }),
    marksField,
    lineDecorations,
    gutterLineClass.compute(["doc", marksField], (state) =>
      paleNumbers({ doc: state.doc, marks: state.field(marksField) }),
    ),
    gutter({
      class: "cm-breakpoints",
      renderEmptyElements: true,
      markers: listDots,
      domEventHandlers: makeGutterHandlers(latest),
    }),
    lineNumbers({ domEventHandlers: makeGutterHandlers(latest) }),
    highlightActiveLine(),
    highlightActiveLineGutter(),
    python(),
    sourceLook,
  ];
}

function makeGutterHandlers(latest: { current: Handlers }) {
  return {
    click: (view: EditorView, block: { from: number }) => {
      latest.current.onGutterClick(lineAt(view, block.from));
      return true;
    },
    contextmenu: (view: EditorView, block: { from: number }, event: Event) => {
      event.preventDefault();
      latest.current.onGutterMenu(lineAt(view, block.from));
      return true;
    },
  };
}
