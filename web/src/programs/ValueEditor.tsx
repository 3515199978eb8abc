import { useState } from "react";

interface ValueEditorProps {
  name: string;
  text: string;
  onSave: (text: string) => void;
  onCancel: () => void;
}

/** A value as a text box: a Python expression. Enter sets it, Escape leaves it as it is. */
export function ValueEditor({ name, text, onSave, onCancel }: ValueEditorProps) {
  const [value, setValue] = useState(text);
  return (
    <input
      className="mono grow value-editor"
      aria-label={`New value of ${name}`}
      // biome-ignore lint/a11y/noAutofocus: one has just asked to edit it
      autoFocus
      value={value}
      onFocus={(event) => event.target.select()}
      onChange={(event) => setValue(event.target.value)}
      onBlur={onCancel}
      onKeyDown={(event) => {
        event.stopPropagation();
        if (event.key === "Enter") onSave(value);
        else if (event.key === "Escape") onCancel();
      }}
    />
  );
}
