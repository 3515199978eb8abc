import { describe, expect, it } from "vitest";

import { isCut, labelArguments, labelChanges, listPositionalNames } from "../src/calls/call-texts";

const value = (text: string, more = {}) => ({ cid: text, text, type: "str", ...more });

describe("the names of arguments", () => {
  it("come from the signature, whatever its defaults contain", () => {
    expect(listPositionalNames("(a, b={'x': (1, 2)}, c=',', *rest, d=1)")).toEqual({
      names: ["a", "b", "c"],
      rest: "rest",
    });
    expect(listPositionalNames("(größe: dict[str, int], /, *, gift=False) -> list[int]").names).toEqual([
      "größe",
    ]);
    expect(listPositionalNames(null)).toEqual({ names: [], rest: null });
  });

  it("number what has none", () => {
    const call = {
      args: [value("1"), value("2"), value("3")],
      kwargs: { d: value("4") },
      signature: "(a, *rest, d=1)",
    };
    expect(labelArguments(call).map((each) => each.label)).toEqual(["a", "rest[0]", "rest[1]", "d"]);
    expect(labelArguments({ ...call, signature: null })[0]?.label).toBe("args[0]");
  });

  it("are those of what the call changed, too", () => {
    const changed = { args: { "0": value("after") }, target: value("it") };
    const call = { args: [value("1")], kwargs: {}, signature: "(a)", changed };
    expect(labelChanges(call as never).map((each) => each.label)).toEqual(["a", "object"]);
  });
});

it("tells a text that is cut from one that is whole", () => {
  expect(isCut(value("[0, 1, ... (2000 items)]"))).toBe(true);
  expect(isCut(value("'wait...'", { json: "wait..." }))).toBe(false);
});
