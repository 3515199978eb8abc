import { RangeSet, StateEffect, StateField, type Text } from "@codemirror/state";
import { Decoration, type DecorationSet, EditorView, GutterMarker, WidgetType } from "@codemirror/view";

/** A breakpoint as the gutter shows it. */
export interface SourceBreakpoint {
  line: number;
  verified: boolean;
  enabled: boolean;
  kind: "plain" | "conditional" | "log";
}

/** Everything that is drawn onto the text. */
export interface SourceMarks {
  /** The line about to run, or that the selected frame is at. */
  current: number | null;
  /** A line that somebody asked for, while it is not the current one. */
  shown: number | null;
  breakpoints: SourceBreakpoint[];
  /** The lines at which a breakpoint can stop; null if that is not known. */
  executable: ReadonlySet<number> | null;
  /** Values to show after the current line. */
  values: string;
}

export const noMarks: SourceMarks = {
  current: null,
  shown: null,
  breakpoints: [],
  executable: null,
  values: "",
};
export const setMarks = StateEffect.define<SourceMarks>();

/** The marks that were set last. */
export const marksField = StateField.define<SourceMarks>({
  create: () => noMarks,
  update: (before, { effects }) => effects.findLast((effect) => effect.is(setMarks))?.value ?? before,
});

const heldLine = Decoration.line({ class: "cm-held", attributes: { "aria-current": "true" } });
const shownLine = Decoration.line({ class: "cm-shown" });

class LineValues extends WidgetType {
  constructor(readonly text: string) {
    super();
  }
  override eq(other: LineValues): boolean {
    return other.text === this.text;
  }
  override toDOM(): HTMLElement {
    const values = document.createElement("span");
    values.className = "cm-values";
    values.textContent = this.text;
    values.ariaHidden = "true"; // the variables have them, and the line stays what it is
    return values;
  }
}

const isLineOf = (doc: Text, line: number | null): line is number =>
  line !== null && line >= 1 && line <= doc.lines;

function decorate(doc: Text, { current, shown, values }: SourceMarks): DecorationSet {
  const ranges = [];
  if (isLineOf(doc, shown) && shown !== current) ranges.push(shownLine.range(doc.line(shown).from));
  if (isLineOf(doc, current)) {
    const { from, to } = doc.line(current);
    ranges.push(heldLine.range(from));
    if (values) ranges.push(Decoration.widget({ widget: new LineValues(values), side: 1 }).range(to));
  }
  return Decoration.set(ranges, true);
}

export const lineDecorations = EditorView.decorations.compute(["doc", marksField], (state) =>
  decorate(state.doc, state.field(marksField)),
);

class BreakpointDot extends GutterMarker {
  constructor(readonly shown: SourceBreakpoint) {
    super();
  }
  override eq(other: GutterMarker): boolean {
    return other instanceof BreakpointDot && other.className === this.className;
  }
  private get className(): string {
    const { kind, enabled, verified } = this.shown;
    return `cm-dot ${kind}${enabled ? "" : " off"}${verified ? "" : " unverified"}`;
  }
  override toDOM(): Node {
    const dot = document.createElement("span");
    dot.className = this.className;
    return dot;
  }
}

/** The dots of the gutter. */
export function listDots(view: EditorView): RangeSet<GutterMarker> {
  const { doc } = view.state;
  const dots = view.state
    .field(marksField)
    .breakpoints.filter(({ line }) => isLineOf(doc, line))
    .map((breakpoint) => new BreakpointDot(breakpoint).range(doc.line(breakpoint.line).from));
  return RangeSet.of(dots, true);
}

class PlainLine extends GutterMarker {
  override elementClass = "cm-not-executable";
}
const plainLine = new PlainLine();

/** Lines at which nothing can stop have pale numbers. */
export const paleNumbers = (state: { doc: Text; marks: SourceMarks }): RangeSet<GutterMarker> => {
  const { doc, marks } = state;
  if (!marks.executable) return RangeSet.empty;
  const lines = Array.from({ length: doc.lines }, (_, index) => index + 1);
  return RangeSet.of(
    lines.filter((line) => !marks.executable?.has(line)).map((line) => plainLine.range(doc.line(line).from)),
  );
};
