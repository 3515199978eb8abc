import { describe, expect, it } from "vitest";

import { joinWords, splitWords } from "../src/agents/command-words";
import { findMember, joinObject, setMember, splitArray, splitObject } from "../src/agents/json-text";
import { draftMessage, findProblem, isSame, switchDraft, writeMessage } from "../src/agents/message-drafts";
import { writeRule } from "../src/agents/rule-text";

describe("JSON as text", () => {
  it("keeps numbers as they were written", () => {
    expect(splitObject('{"amount": 4.0, "id": 12345678901234567890}')).toEqual([
      { name: "amount", text: "4.0" },
      { name: "id", text: "12345678901234567890" },
    ]);
  });

  it("cuts where members end, and not within texts and containers", () => {
    const text = '{"a": "x, \\"y\\": {", "b": [1, {"c": 2}], "d, e": {}}';
    expect(splitObject(text)?.map((member) => member.name)).toEqual(["a", "b", "d, e"]);
    expect(splitArray('[{"a": [1, 2]}, "x, y", 3.0]')).toEqual(['{"a": [1, 2]}', '"x, y"', "3.0"]);
    expect(splitObject("{}")).toEqual([]);
  });

  it("says that other texts are no object", () => {
    for (const text of ["", "[1]", '{"a": }', "{'a': 1}", "{"]) expect(splitObject(text)).toBeNull();
  });

  it("finds and sets members, and leaves the others alone", () => {
    const text = '{"role": "tool", "cost": 1.0}';
    expect(findMember(text, "cost")).toBe("1.0");
    expect(setMember(text, "role", '"user"')).toBe('{"role": "user", "cost": 1.0}');
    expect(setMember("{}", "role", '"user"')).toBe('{"role": "user"}');
    expect(joinObject([{ name: 'a"b', text: "4.0" }])).toBe('{"a\\"b": 4.0}');
  });
});

describe("a message that is edited", () => {
  const given = {
    role: "tool",
    text: "4.0",
    json: '{"role": "tool", "tool_call_id": "c1", "content": "4.0"}',
  };

  it("keeps what is not shown", () => {
    const draft = { ...draftMessage(given), text: "5.0" };
    expect(writeMessage(draft)).toBe('{"role": "tool", "tool_call_id": "c1", "content": "5.0"}');
    expect(isSame([draftMessage(given)], [given])).toBe(true);
    expect(isSame([draft], [given])).toBe(false);
  });

  it("is edited as JSON if its content is no text", () => {
    const draft = draftMessage({
      role: "user",
      text: "hi",
      json: '{"role": "user", "content": [{"n": 1.0}]}',
    });
    expect(draft.isJson).toBe(true);
    expect(switchDraft(draft)).toBe(draft);
    expect(findProblem([{ ...draft, json: "{" }])).toContain("Message 1");
  });
});

describe("a command line", () => {
  it("is cut and put together as a shell does", () => {
    const words = ["python", "my agent.py", "--say", "it's", ""].slice(0, 4);
    expect(splitWords(joinWords(words))).toEqual(words);
    expect(splitWords("a  \"b c\"\\ d 'e f'")).toEqual(["a", "b c d", "e f"]);
    expect(splitWords("  ")).toEqual([]);
  });
});

it("writes a rule as TOML", () => {
  expect(writeRule("deny", "shell", "\\brm\\b")).toBe(
    `[[agent.rule]]\ntool = "shell"\npattern = '\\brm\\b'\naction = "deny"`,
  );
});
