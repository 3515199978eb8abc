import { describe, expect, it } from "vitest";

import { buildFields, describeMatch, NO_FIELDS, readFields } from "../src/breakpoints/breakpoint-fields";
import { concernsCalls } from "../src/calls/call-messages";
import { buildContinue, changeEdit } from "../src/holds/decision";

describe("the decision about a held call", () => {
  it("is to continue if nothing was changed", () => {
    expect(buildContinue({})).toEqual({ action: "continue" });
  });

  it("sends changed values as text, never as numbers of JavaScript", () => {
    expect(buildContinue({ count: "4.0", gift: "True" })).toEqual({
      action: "modify",
      modified_kwargs: { count: { text: "4.0" }, gift: { text: "True" } },
    });
  });

  it("names arguments without a name by their place", () => {
    expect(buildContinue({ "args[2]": "3" })).toEqual({
      action: "modify",
      modified_args: [null, null, { text: "3" }],
    });
  });

  it("forgets an edit that was written back", () => {
    const argument = { name: "item", text: "'tea'", literal: "'tea'", is_passed: true, editable: true };
    const edits = changeEdit({}, argument, "'cake'");
    expect(edits).toEqual({ item: "'cake'" });
    expect(changeEdit(edits, argument, "'tea'")).toEqual({});
  });
});

describe("a breakpoint in its form", () => {
  const point = {
    id: "b",
    breakpoint_id: "b",
    when: "after",
    enabled: true,
    hits: 0,
    undecided: 0,
    function: "Shop.*",
  };

  it("comes back as it was, and an empty box takes something away", () => {
    const fields = readFields(point);
    expect(fields).toEqual({ ...NO_FIELDS, function: "Shop.*", when: "after" });
    expect(buildFields(fields)).toMatchObject({ function: "Shop.*", condition: null, when: "after" });
  });

  it("is described in words", () => {
    expect(describeMatch(point)).toBe("calls of Shop.*");
    expect(describeMatch({ ...point, function: undefined, call_type: "inline" } as never)).toBe(
      "all inline calls",
    );
  });
});

it("looks again when calls were recorded, held or decided, and not for anything else", () => {
  const event = (type: string) => ({ kind: "events", missed: false, events: [{ type }] }) as never;
  expect(concernsCalls(event("hold_opened"))).toBe(true);
  expect(concernsCalls(event("stopped"))).toBe(false);
  expect(concernsCalls({ kind: "changes", gone: [], sessions: { s: { status: "running", calls: 3 } } })).toBe(
    true,
  );
  expect(concernsCalls({ kind: "changes", gone: [], sessions: { s: { status: "running" } } })).toBe(false);
});
