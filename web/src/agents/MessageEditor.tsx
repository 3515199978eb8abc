import { splitObject } from "./json-text";
import { draftNewMessage, type MessageDraft, switchDraft } from "./message-drafts";

const ROLES = ["system", "developer", "user", "assistant", "tool"];

interface MessageEditorProps {
  drafts: MessageDraft[];
  onChange: (drafts: MessageDraft[]) => void;
}

/** The messages of a model call, each with its role and its text, to be changed, removed and added. */
export function MessageEditor({ drafts, onChange }: MessageEditorProps) {
  const replace = (draft: MessageDraft) =>
    onChange(drafts.map((each) => (each.key === draft.key ? draft : each)));
  return (
    <div className="message-editor">
      <ol>
        {drafts.map((draft, index) => (
          <li key={draft.key}>
            <MessageFields
              draft={draft}
              number={index + 1}
              onChange={replace}
              onRemove={() => onChange(drafts.filter((each) => each.key !== draft.key))}
            />
          </li>
        ))}
      </ol>
      <button type="button" onClick={() => onChange([...drafts, draftNewMessage()])}>
        Add a message
      </button>
    </div>
  );
}

interface MessageFieldsProps {
  draft: MessageDraft;
  number: number;
  onChange: (draft: MessageDraft) => void;
  onRemove: () => void;
}

function MessageFields({ draft, number, onChange, onRemove }: MessageFieldsProps) {
  const roles = ROLES.includes(draft.role) ? ROLES : [draft.role, ...ROLES];
  const text = draft.isJson ? draft.json : draft.text;
  return (
    <fieldset className="message-fields">
      <legend>Message {number}</legend>
      <div className="row">
        {draft.isJson ? (
          <span className="soft">{draft.role}, as JSON</span>
        ) : (
          <select
            aria-label={`Role of message ${number}`}
            value={draft.role}
            onChange={(event) => onChange({ ...draft, role: event.target.value })}
          >
            {roles.map((role) => (
              <option key={role}>{role}</option>
            ))}
          </select>
        )}
        <span className="soft cut grow rest-names">{draft.isJson ? "" : describeRest(draft.json)}</span>
        <button type="button" className="quiet" onClick={() => onChange(switchDraft(draft))}>
          {draft.isJson ? "As text" : "As JSON"}
          <span className="unseen"> message {number}</span>
        </button>
        <button type="button" className="quiet danger" onClick={onRemove}>
          Remove<span className="unseen"> message {number}</span>
        </button>
      </div>
      <textarea
        aria-label={`Text of message ${number}`}
        rows={Math.min(10, Math.max(2, text.split("\n").length))}
        value={text}
        onChange={(event) => onChange({ ...draft, [draft.isJson ? "json" : "text"]: event.target.value })}
      />
    </fieldset>
  );
}

/** What a message has besides its role and its text: it stays. */
function describeRest(json: string): string {
  const names = (splitObject(json) ?? []).map((member) => member.name);
  const rest = names.filter((name) => name !== "role" && name !== "content");
  return rest.length ? `with ${rest.join(", ")}` : "";
}
