"""Runs programs with a recorder in them, without a server, and reads what was recorded."""

from __future__ import annotations

import ast
import json
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from harness import PROGRAMS
from holdfast.core import trace_builder
from holdfast.model.trace import FrameTrace
from holdfast.targets.program.launcher import PROBE

TRACES = PROGRAMS / "traces"
GROUND_TRUTH = PROGRAMS / "trace_truth.py"

_ENVIRONMENT = {**os.environ, "PYTHONHASHSEED": "0"}  # sets have one order in all runs

RUNNER = """
import json, os, sys, types
probe, spec, script = sys.argv[1], json.loads(sys.argv[2]), sys.argv[3]
del sys.argv[:3]
with open(os.path.join(probe, "package_loader.py"), encoding="utf-8") as file:
    exec(compile(file.read(), "package_loader", "exec"), namespace := {"__name__": "loader"})
sys.path[0] = os.path.dirname(script)
start = namespace["load_module"](probe, "traces.trace_start")
main = sys.modules["__main__"] = types.ModuleType("__main__")
main.__file__ = script
if spec is not None:
    start.begin(spec)
with open(script, encoding="utf-8") as file:
    code = start.prepare_code(compile(file.read(), script, "exec", dont_inherit=True))
try:
    exec(code, main.__dict__)
finally:
    start.end()
"""


@dataclass(frozen=True)
class TracedRun:
    """What a run has left."""

    output: str
    errors: str
    code: int
    path: Path

    @property
    def lines(self) -> list[bytes]:
        return self.path.read_bytes().splitlines(keepends=True) if self.path.exists() else []

    @property
    def frames(self) -> list[FrameTrace]:
        return trace_builder.build_frames(self.lines)

    @property
    def remarks(self) -> list[str]:
        return trace_builder.list_remarks(self.lines)

    @property
    def picked(self) -> FrameTrace:
        return next(frame for frame in self.frames if frame.is_picked)


def run_traced(
    python: str,
    program: Path,
    function: str,
    folder: Path,
    *,
    args: Sequence[str] = (),
    timeout: float = 60,
    **spec: Any,
) -> TracedRun:
    """Run a script, and record a function of it."""
    path = folder / "recording.jsonl"
    order = {
        "kind": "frame",
        "path": str(path),
        "function": function,
        "is_own": True,
        "is_static": True,
        "script": str(program),
        "roots": [str(program.parent)],
        **spec,
    }
    return _run(python, order, program, args, path, timeout)


def run_plain(python: str, script: Path, *, args: Sequence[str] = ()) -> TracedRun:
    """The same without a recorder."""
    return _run(python, None, script, args, Path(os.devnull), 60)


def _run(
    python: str, order: Any, script: Path, args: Sequence[str], path: Path, timeout: float
) -> TracedRun:
    command = [python, "-c", RUNNER, str(PROBE), json.dumps(order), str(script), *args]
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        timeout=timeout,
        stdin=subprocess.DEVNULL,
        env=_ENVIRONMENT,
    )
    return TracedRun(done.stdout, done.stderr, done.returncode, path)


# -- the yardstick ---------------------------------------------------------------------------------


@dataclass
class Lifetime:
    """One invocation: each statement with the variables after it."""

    args: dict[str, str]
    lines: list[int] = field(default_factory=list)
    states: list[dict[str, str]] = field(default_factory=list)


def read_ground_truth(python: str, script: Path, function: str, folder: Path) -> list[Lifetime]:
    """What `sys.settrace` tells of the invocations of a function.

    Only of one in each run: reading its variables keeps values alive, which others may wait for.
    """
    out = folder / "truth.json"
    command = [python, str(GROUND_TRUTH), str(PROBE), str(script), function, str(out)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=_ENVIRONMENT)
    assert out.exists(), done.stderr
    invocations = json.loads(out.read_bytes())
    out.unlink()
    return [_join_events(one) for one in invocations if one["events"]]


def _join_events(invocation: dict[str, Any]) -> Lifetime:
    """Lines of one statement are one; what a statement did is known when the next one begins."""
    file = Path(invocation["file"])
    firsts, rounds = find_statements(file.read_text("utf-8") if file.exists() else "")
    events = invocation["events"]
    lifetime = Lifetime(dict(invocation["args"]))
    previous = 0
    starts: list[int] = []
    for index, (line, _state, _globals) in enumerate(events):
        first = firsts.get(line, line)
        is_same = bool(starts) and lifetime.lines[-1] == first
        if not is_same or (line == previous and first in rounds):
            lifetime.lines.append(first)
            starts.append(index)
        previous = line
    last = invocation.get("last", events[-1])
    following = [*(events[index] for index in starts[1:]), last]
    lifetime.states = [{**state, **names} for _line, state, names in following]
    return lifetime


def find_statements(text: str) -> tuple[dict[int, int], set[int]]:
    """The first line of the statement of each line; and the lines that rounds begin with."""
    firsts: dict[int, int] = {}
    rounds: set[int] = set()
    for node in ast.walk(ast.parse(text)):
        body = getattr(node, "body", None)
        if isinstance(node, ast.Lambda):
            _claim(firsts, node.body.lineno, node.body.end_lineno or 0)
        elif isinstance(node, (ast.stmt, ast.ExceptHandler)):
            first = min([node.lineno, *(d.lineno for d in getattr(node, "decorator_list", ()))])
            if isinstance(body, list):
                _claim(firsts, first, max(node.lineno, _begin(body[0]) - 1))
            elif sys.version_info >= (3, 10) and isinstance(node, ast.Match):
                _claim(firsts, first, node.subject.end_lineno or 0)
                for case in node.cases:
                    start = case.pattern.lineno
                    _claim(firsts, start, max(start, _begin(case.body[0]) - 1))
            else:
                _claim(firsts, first, node.end_lineno or 0)
        if isinstance(node, (ast.For, ast.AsyncFor)):
            rounds.add(node.lineno)
        elif isinstance(node, ast.While):
            endless = isinstance(node.test, ast.Constant)
            rounds.add(_begin(node.body[0]) if endless else node.lineno)
    return firsts, rounds


def _begin(node: ast.stmt) -> int:
    lines: list[int] = [d.lineno for d in getattr(node, "decorator_list", ())]
    return min([node.lineno, *lines])


def _claim(firsts: dict[int, int], first: int, last: int) -> None:
    """A statement inside another (a lambda's body) keeps the lines of the outer one."""
    for line in range(first, last + 1):
        firsts.setdefault(line, first)


def read_lifetimes(run: TracedRun, initial: Sequence[dict[str, str]] = ()) -> list[Lifetime]:
    """The recorded invocations, by replaying the changes of their statements.

    `initial`: the variables that each begins with, with those that are no arguments.
    """
    found: dict[int, Lifetime] = {}
    values: dict[int, dict[str, str]] = {}
    for line in map(json.loads, run.lines):
        if isinstance(line, list) and line[0] in ("s", "m"):
            _replay(line, found[line[1]], values[line[1]])
        elif isinstance(line, dict) and "frame" in line:
            args = {name: text for name, text, *_cid in line["args"]}
            start = initial[len(found)] if len(found) < len(initial) else {}
            found[line["frame"]] = Lifetime(args)
            values[line["frame"]] = {**args, **start}
    return list(found.values())


def _replay(line: list[Any], lifetime: Lifetime, values: dict[str, str]) -> None:
    is_new = line[0] == "s"
    for name, how, *text in line[5] if is_new else line[2]:
        if how == "d":
            values.pop(name, None)
        else:
            values[name] = text[0]
    if is_new:
        lifetime.lines.append(line[3])
        lifetime.states.append(dict(values))
    else:
        lifetime.states[-1] = dict(values)


def find_differences(recorded: Sequence[Lifetime], truth: Sequence[Lifetime]) -> list[str]:
    """Where recorded lifetimes are not what `sys.settrace` tells."""
    if len(recorded) != len(truth):
        return [f"{len(recorded)} invocations in place of {len(truth)}"]
    found = []
    for number, (ours, theirs) in enumerate(zip(recorded, truth, strict=True), 1):
        if ours.lines != theirs.lines:
            found.append(f"call {number}: lines {ours.lines} in place of {theirs.lines}")
            continue
        for line, have, want in zip(ours.lines, ours.states, theirs.states, strict=True):
            names = [name for name in {**have, **want} if have.get(name) != want.get(name)]
            if names:
                shown = [f"{n}: {have.get(n)} in place of {want.get(n)}" for n in names]
                found.append(f"call {number}, line {line}: {', '.join(shown)}")
                break
    return found
