"""A scripted target says what a real interpreter says: each script runs on both, and is compared.

Left out of the comparison are the numbers that name something (ids, processes, references, frames)
and times.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server, Session
from local_server import LocalServer

LOOP = Program("loop.py")
_NUMBERS = {"pid", "timestamp", "ident", "seq", "python", "version", "frame_id", "cursor", "mark"}
_NUMBERS |= {"entries", "output_cursor"}  # in how many pieces output was read is chance
_ID = re.compile(r"\b(sess|bp|hold|run|prof)_[0-9a-f]+")
_ADDRESS = re.compile(r"0x[0-9a-f]+")

Script = Callable[[Session, list[Any]], None]
_SCRIPTS: dict[str, Script] = {}


def script(run: Script) -> Script:
    _SCRIPTS[run.__name__] = run
    return run


def simplify(value: Any) -> Any:
    """What is the same for two runs of one program."""
    if isinstance(value, dict):
        return {key: _simplify_reference(key, each) for key, each in value.items() if _is_told(key)}
    if isinstance(value, list):
        return _join_output([simplify(each) for each in value])
    if isinstance(value, str):
        return _ADDRESS.sub("0x", _ID.sub(r"\1_", value))
    return value


def _join_output(values: list[Any]) -> list[Any]:
    """What is printed at once may be read at once, or piece by piece."""
    joined: list[Any] = []
    for value in values:
        last = joined[-1] if joined else {}
        if _is_output(value) and _is_output(last) and value["type"] == last["type"]:
            joined[-1] = {**value, "text": last["text"] + value["text"]}
        else:
            joined.append(value)
    return joined


def _is_output(value: Any) -> bool:
    return isinstance(value, dict) and value.get("type") in ("stdout", "stderr") and "text" in value


def _is_told(key: str) -> bool:
    return key not in _NUMBERS and not key.endswith(("_at", "_seconds"))


def _simplify_reference(key: str, value: Any) -> Any:
    if key in ("reference", "variable_reference", "variables_reference"):
        return bool(value)
    return simplify(value)


def launch_code(session: Session, code: str, **options: Any) -> Any:
    return session.post("/launch", {"code": code, "wait": 60, **options})


def read_all(session: Session) -> list[Any]:
    """What a client can read at a stop."""
    stack = session.get("/stacktrace")
    depths = range(len(stack["frames"]))
    return [
        session.get("/status"),
        stack,
        session.get("/threads"),
        *(session.get(f"/frames/{depth}/variables") for depth in depths),
        session.get("/frames/0/scopes")["scopes"][0],
    ]


# -- the scripts ----------------------------------------------------------------------------------


@script
def stops_at_lines_and_ends(session: Session, told: list[Any]) -> None:
    session.break_at(LOOP, "add", "print")
    told.append(session.launch(LOOP))
    told.extend(read_all(session))
    for _ in range(10):
        told.append(session.resume(include=["source", "locals", "stack", "output"]))
    told.append(session.resume(include=["output"]))
    told.append(session.get("/output"))


@script
def steps_into_over_and_out(session: Session, told: list[Any]) -> None:
    session.break_at(LOOP, "start")
    told.append(session.launch(LOOP))
    kinds = ["into", "over", "over", "into", "out", "into", "over", "over", "over", "out", "over"]
    for kind in kinds:
        told.append(session.post(f"/step-{kind}", {"wait": 60, "include": ["locals", "stack"]}))


@script
def stops_on_entry_and_steps_to_the_end(session: Session, told: list[Any]) -> None:
    told.append(launch_code(session, "a = 1\nb = 2\nprint(a + b)\n", stop_on_entry=True))
    while told[-1]["status"] == "paused":
        told.append(session.post("/step-over", {"wait": 60, "include": ["locals", "output"]}))


@script
def counts_conditions_and_logs(session: Session, told: list[Any]) -> None:
    session.break_at(LOOP, "add", condition="number % 2")
    session.break_at(LOOP, "return", hit_condition=">= 9")
    session.break_at(LOOP, "call", log_message="{number} of {total!r:>4} {missing}")
    told.append(session.launch(LOOP))
    while told[-1]["status"] == "paused":
        told.append(session.resume())
    told.append(session.get("/breakpoints"))
    told.append(session.get("/output"))


@script
def stops_where_a_condition_fails(session: Session, told: list[Any]) -> None:
    session.break_at(LOOP, "add", condition="nothing > 1")
    told.append(session.launch(LOOP))
    told.append(session.resume())
    told.append(session.get("/breakpoints"))


@script
def stops_in_functions(session: Session, told: list[Any]) -> None:
    session.post("/breakpoints", {"function": "add"})
    told.append(session.launch(LOOP))
    told.append(session.resume())
    told.append(session.post("/step-over"))
    told.append(session.get("/breakpoints"))


@script
def breakpoints_come_and_go_at_a_stop(session: Session, told: list[Any]) -> None:
    [first] = session.break_at(LOOP, "add")
    told.append(session.launch(LOOP))
    told.append(session.resume())
    session.delete(f"/breakpoints/{first}")
    session.break_at(LOOP, "end")
    told.append(session.resume())
    told.append(session.resume())


@script
def evaluates_and_unfolds(session: Session, told: list[Any]) -> None:
    code = (
        "data = {'a': [1, 2], 'b': 'x' * 3000}\n"
        "class Thing:\n    size = 3\n"
        "thing = Thing()\na = 1\nb = 2\n"
    )
    told.append(launch_code(session, code, stop_on_entry=True))
    for _ in range(3):
        session.post("/step-over", {"wait": 60})
    for expression in ("data", "thing.size", "len(data)", "1 / 0", "nothing", "thing", "1 +"):
        answer = session.server.http.post(
            session.path("/evaluate"), json={"expression": expression}
        )
        told.append([answer.status_code, answer.json()])
    value = session.post("/evaluate", {"expression": "data"})
    told.append(session.get(f"/variables/{value['variable_reference']}"))
    for expression in ("data['a']", "nope", "thing.size + 1"):
        told.append(session.post("/watch", {"expression": expression}))
    told.append(session.get("/watch"))
    stale = value["variable_reference"]
    told.append(session.post("/step-over", {"wait": 60}))
    answer = session.server.http.get(session.path(f"/variables/{stale}"))
    told.append([answer.status_code, answer.json()["error"]["code"]])


@script
def asks_for_input(session: Session, told: list[Any]) -> None:
    code = "name = input('Name: ')\nprint('hello', name)\nmore = input()\nprint(more)\n"
    told.append(launch_code(session, code))
    told.append(session.post("/input", {"input": "Ada\n", "wait": 60}))
    told.append(session.get("/status?wait=60"))
    told.append(session.post("/input", {"input": "bye\n"}))
    told.append(session.get("/status?wait=60"))
    told.append(session.get("/output"))


@script
def reads_the_end_of_its_input(session: Session, told: list[Any]) -> None:
    told.append(launch_code(session, "try:\n    input()\nexcept EOFError:\n    print('over')\n"))
    told.append(session.post("/input", {"close": True}))
    told.append(session.get("/status?wait=60"))
    told.append(session.get("/output"))


@script
def ends_by_an_exception(session: Session, told: list[Any]) -> None:
    code = "def fail(n):\n    raise ValueError(f'no {n}')\n\nlist_of = [1]\nfail(3)\n"
    told.append(launch_code(session, code))
    told.append(session.get("/output"))


@script
def stops_at_exceptions(session: Session, told: list[Any]) -> None:
    session.post("/exception-breakpoints", {"filters": ["uncaught"]})
    code = (
        "def fail():\n    raise KeyError('x')\n\n"
        "try:\n    fail()\nexcept KeyError:\n    caught = 1\n"
        "fail()\n"
    )
    told.append(launch_code(session, code))
    told.append(session.get("/stacktrace"))
    told.append(session.resume())


@script
def ends_with_a_code(session: Session, told: list[Any]) -> None:
    told.append(launch_code(session, "import sys\nprint('bad', file=sys.stderr)\nsys.exit(3)\n"))
    told.append(session.get("/output"))


@script
def ends_with_a_message(session: Session, told: list[Any]) -> None:
    told.append(launch_code(session, "import sys\nsys.exit('no such thing')\n"))
    told.append(session.get("/output"))


@script
def has_a_syntax_error(session: Session, told: list[Any]) -> None:
    answer = session.server.http.post(session.path("/launch"), json={"code": "a = = 1\n"})
    told.append([answer.status_code, answer.json()])
    told.append(session.get("/status"))


@script
def gets_its_arguments(session: Session, told: list[Any]) -> None:
    told.append(launch_code(session, "import sys\nprint(sys.argv, __name__)\n", args=["a", "b c"]))
    told.append(session.get("/output"))


@script
def keeps_the_order_of_its_output(session: Session, told: list[Any]) -> None:
    code = (
        "import sys\n"
        "for n in range(5):\n"
        "    print('out', n)\n"
        "    print('err', n, file=sys.stderr)\n"
        "print('unfinished', end='')\n"
    )
    told.append(launch_code(session, code))
    told.append(session.get("/output"))


@script
def is_terminated_at_a_stop(session: Session, told: list[Any]) -> None:
    session.break_at(LOOP, "add")
    told.append(session.launch(LOOP))
    told.append(session.post("/terminate"))
    told.append(session.get("/status"))


@script
def is_restarted(session: Session, told: list[Any]) -> None:
    session.break_at(LOOP, "add")
    told.append(session.launch(LOOP))
    told.append(session.resume())
    told.append(session.post("/restart", {"wait": 60}))
    told.append(session.get("/breakpoints"))


@script
def is_paused_while_it_is_busy(session: Session, told: list[Any]) -> None:
    told.append(launch_code(session, "print('go', flush=True)\nwhile True: n = 0\n", wait=0))
    told.append(session.get("/output?wait=60"))
    told.append(session.post("/pause", {"wait": 60, "include": []}))
    session.post("/evaluate", {"expression": "globals().update(n=5)"})
    told.append(session.evaluate("n"))
    told.append(session.post("/terminate"))


# -- the comparison -------------------------------------------------------------------------------


def run_script(name: str, server: Server) -> list[Any]:
    told: list[Any] = []
    with server.session() as session:
        _SCRIPTS[name](session, told)
        told.append(session.get("/events?limit=1000")["events"])
    return [simplify(each) for each in told]


@pytest.mark.parametrize("name", _SCRIPTS)
def test_a_script_says_the_same_on_both(name: str, real_server: Server, tmp_path: Path) -> None:
    local = LocalServer(tmp_path / "data")
    try:
        scripted = run_script(name, local)
    finally:
        local.stop()
    real = run_script(name, real_server)
    for number, (ours, theirs) in enumerate(zip(scripted, real, strict=True)):
        assert ours == theirs, f"answer {number}"
