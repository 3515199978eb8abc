import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { EditorView } from "@codemirror/view";
import { tags } from "@lezer/highlight";

const colours = HighlightStyle.define([
  {
    tag: [tags.keyword, tags.operatorKeyword, tags.controlKeyword, tags.definitionKeyword],
    color: "var(--code-keyword)",
  },
  { tag: [tags.string, tags.special(tags.string)], color: "var(--code-string)" },
  { tag: [tags.comment], color: "var(--code-comment)", fontStyle: "italic" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--code-number)" },
  {
    tag: [
      tags.function(tags.variableName),
      tags.function(tags.definition(tags.variableName)),
      tags.className,
    ],
    color: "var(--code-name)",
  },
]);

const dot = { display: "block", width: "11px", height: "11px", margin: "4px 0 0 5px", borderRadius: "50%" };

const theme = EditorView.theme({
  "&": { fontSize: "13px", height: "100%", background: "transparent" },
  "&.cm-focused": { outline: "none" },
  ".cm-scroller": { fontFamily: "var(--mono)", lineHeight: "1.5" },
  ".cm-gutters": { background: "var(--panel)", color: "var(--text)", border: "0" },
  ".cm-not-executable": { color: "var(--soft)" },
  ".cm-content": { caretColor: "var(--text)" },
  ".cm-activeLine": { background: "transparent", boxShadow: "inset 0 0 0 1px var(--line)" },
  ".cm-activeLineGutter": { background: "var(--sunken)" },
  ".cm-held": { background: "var(--held-back)", boxShadow: "inset 3px 0 0 var(--held)" },
  ".cm-shown": { background: "var(--sunken)" },
  ".cm-values": { color: "var(--soft)", fontStyle: "italic", marginLeft: "3ch" },
  ".cm-breakpoints": { width: "22px", cursor: "pointer" },
  ".cm-breakpoints .cm-gutterElement:hover:not(:has(.cm-dot))::after": {
    ...dot,
    content: "''",
    background: "color-mix(in srgb, var(--bad) 40%, transparent)",
  },
  ".cm-dot": { ...dot, background: "var(--bad)" },
  ".cm-dot.conditional": { borderRadius: "2px" },
  ".cm-dot.log": { borderRadius: "2px", transform: "rotate(45deg)", background: "var(--accent)" },
  ".cm-dot.off": { background: "transparent", border: "2px solid var(--soft)" },
  ".cm-dot.unverified": { opacity: "0.5" },
});

export const sourceLook = [syntaxHighlighting(colours), theme];
