import { changeEdit, type Edits, type HeldArgument, textOf } from "./decision";

interface ArgumentBoxesProps {
  items: HeldArgument[];
  edits: Edits;
  isLocked: boolean;
  onChange: (edits: Edits) => void;
}

/** A box for each argument, labelled by its parameter. */
export function ArgumentBoxes({ items, edits, isLocked, onChange }: ArgumentBoxesProps) {
  if (!items.length) return <p className="empty">It has no arguments.</p>;
  return (
    <div className="arguments">
      {items.map((argument) => (
        <ArgumentBox
          key={argument.name}
          argument={argument}
          text={edits[argument.name]}
          isLocked={isLocked}
          onChange={(text) => onChange(changeEdit(edits, argument, text))}
        />
      ))}
    </div>
  );
}

interface ArgumentBoxProps {
  argument: HeldArgument;
  /** What was written, if it differs. */
  text: string | undefined;
  isLocked: boolean;
  onChange: (text: string) => void;
}

const WIDTH = 60;
const MOST_ROWS = 10;

function ArgumentBox({ argument, text, isLocked, onChange }: ArgumentBoxProps) {
  const id = `argument-${argument.name}`;
  const shown = text ?? textOf(argument);
  const lines = shown.split("\n").reduce((sum, line) => sum + Math.max(1, Math.ceil(line.length / WIDTH)), 0);
  const note = describeBox(argument, text !== undefined, isLocked);
  return (
    <div className={text === undefined ? "argument" : "argument changed"}>
      <label htmlFor={id} className="mono">
        {argument.name}
      </label>
      <textarea
        id={id}
        rows={Math.min(MOST_ROWS, lines)}
        value={shown}
        readOnly={isLocked || !argument.editable}
        aria-describedby={note ? `${id}-note` : undefined}
        spellCheck={false}
        autoCapitalize="off"
        onChange={(event) => onChange(event.target.value)}
      />
      {note ? (
        <span id={`${id}-note`} className="soft argument-note">
          {note}
        </span>
      ) : null}
    </div>
  );
}

function describeBox(argument: HeldArgument, isChanged: boolean, isLocked: boolean): string {
  if (isChanged) return `changed; was ${textOf(argument)}`;
  const passed = argument.is_passed ? "" : "its default";
  if (isLocked || argument.editable) return passed;
  return "not plain data, or too long: its text cannot be edited";
}
