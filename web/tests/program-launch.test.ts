import { expect, test } from "vitest";

import { parseTarget } from "../src/programs/attach-target";
import {
  emptyLaunch,
  joinWords,
  makeLaunchRequest,
  parsePlaces,
  readLaunch,
  splitWords,
} from "../src/programs/launch-request";

test("arguments are split as a shell splits them", () => {
  expect(splitWords(`a "b c" 'd e' f\\ g --x="1 2" ''`)).toEqual(["a", "b c", "d e", "f g", "--x=1 2", ""]);
  expect(splitWords(`"say \\"hi\\""`)).toEqual(['say "hi"']);
  expect(splitWords("  ")).toEqual([]);
});

test("words that are joined are split into the same words", () => {
  const words = ["plain", "two words", "it's", 'a "quote"', "back\\slash", "", "--x=1"];
  expect(splitWords(joinWords(words))).toEqual(words);
});

test("places have a file and a line", () => {
  expect(parsePlaces("a.py:3, C:/b.py:14")).toEqual([
    { file: "a.py", line: 3 },
    { file: "C:/b.py", line: 14 },
  ]);
  expect(() => parsePlaces("a.py")).toThrow("Write a file and a line");
});

test("what is not filled in is not sent", () => {
  expect(makeLaunchRequest({ ...emptyLaunch, target: " a.py " })).toEqual({
    launch: { script: "a.py", args: [], stop_on_entry: false },
  });
});

test("tests are run by pytest, and a launch of before fills the form in", () => {
  const fields = { ...emptyLaunch, kind: "tests" as const, target: "t.py::test", args: "-x", cwd: "/code" };
  const request = makeLaunchRequest(fields);
  expect(request).toMatchObject({ cwd: "/code", launch: { module: "pytest", args: ["t.py::test", "-x"] } });
  expect(readLaunch({ ...request.launch, cwd: "/code" })).toEqual(fields);
});

test("a number is a process, a host and a port are a place", () => {
  expect(parseTarget(" 4321 ")).toEqual({ pid: 4321 });
  expect(parseTarget("example:5678")).toEqual({ host: "example", port: 5678 });
  expect(parseTarget(":5678")).toEqual({ host: "127.0.0.1", port: 5678 });
  expect(() => parseTarget("there")).toThrow("process id");
});
