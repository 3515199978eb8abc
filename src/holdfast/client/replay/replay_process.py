"""The process in which a recorded call is made again.

It reads a `ReplayOrder` from its standard input and writes a `ReplayAnswer` to what was its
standard output; what the program prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from holdfast.client import equality
from holdfast.client.exceptions import DebugError
from holdfast.client.http_client import ApiError, HttpClient
from holdfast.client.replay import nondeterminism, recorded_call
from holdfast.client.replay.generated_test import GeneratedTest
from holdfast.client.replay.replay_messages import ProgramRecord, ReplayAnswer, ReplayOrder
from holdfast.client.replay.value_restorer import CannotReplay, Program, Restorer, dotted_name
from holdfast.client.snapshots import cid_of
from holdfast.client.switch import switch


def main() -> None:
    order = json.load(sys.stdin)
    output = os.dup(1)
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    answer = json.dumps(replay(order)).encode()
    sys.stdout.flush()
    with os.fdopen(output, "wb") as file:
        file.write(answer)
    # Not through the program's own exit handlers and threads: the work is done.
    os._exit(0)


def replay(order: ReplayOrder) -> ReplayAnswer:
    try:
        return _replay(order)
    except CannotReplay as why:
        return {"status": "cannot", "reason": str(why)}


def _replay(order: ReplayOrder) -> ReplayAnswer:
    call, session = order["call"], order["session"]
    recorded_call.require_replayable(call)
    _adopt_program(session)
    if order.get("shift"):
        nondeterminism.shift_clock()
    program = Program(session.get("script"), session.get("module"))
    restorer = Restorer(_build_fetch(order["url"], order.get("token")), program)
    values = recorded_call.CallValues(call, restorer)
    form = recorded_call.CallForm(call, values.target)
    recorded_call.require_current(form, restorer)
    function = form.find_function(values.target)
    recorded = recorded_call.RecordedOutcome(call, restorer)
    answer: ReplayAnswer = {"function": form.full_name(), "expected": recorded.text()}
    if order.get("test"):
        before = recorded_call.CallValues(call, restorer)
        test = GeneratedTest(call, restorer, before, form, recorded).build()
        observer = nondeterminism.Observer()
        with observer:
            outcome = recorded_call.make_call(function, values)
        test["awaited"] = outcome.was_awaited
        answer.update({"test": test, "clock": observer.clock, "chance": observer.chance})
    else:
        outcome = recorded_call.make_call(function, values)
    differences = recorded_call.compare(recorded, outcome, values, program.main_name())
    return {
        **answer,
        "status": "different" if differences else "equal",
        "actual": outcome.text(),
        "differences": [
            {"of": what, "path": part.path, "expected": part.expected, "actual": part.actual}
            for what, part in differences
        ],
        "key": _outcome_key(outcome, values),
        "code_changed_at": _code_changed_at(session, form),
        "connects": switch.was_refused,
    }


def _adopt_program(session: ProgramRecord) -> None:
    """Take the arguments of the recorded program, and import from where it did."""
    sys.argv = list(session.get("argv") or [""])
    path = list(session.get("path") or [])
    script = session.get("script")
    if not path:
        path = [session.get("cwd") or os.getcwd()]
        if script:
            path.insert(0, dotted_name(script)[0])
    known = set(sys.path)
    sys.path[:0] = [folder for folder in path if folder not in known]


def _build_fetch(url: str, token: str | None) -> Callable[[str], bytes]:
    client = HttpClient(url, token=token)

    def fetch(cid: str) -> bytes:
        try:
            data = client.get_bytes(f"/api/cid/{cid}")
        except (ApiError, DebugError) as problem:
            raise CannotReplay(f"the server does not give {cid[:12]}…: {problem}") from problem
        if cid_of(data) != cid:
            raise CannotReplay(f"the server's bytes are not those that {cid[:12]}… names")
        return data

    return fetch


def _outcome_key(outcome: recorded_call.ReplayOutcome, values: recorded_call.CallValues) -> str:
    """Two runs with the same key had the same outcome."""
    ended = outcome.value if outcome.error is None else outcome.text()
    key = equality.key((ended, values.args, values.kwargs))
    return key or outcome.text()


def _code_changed_at(session: ProgramRecord, form: recorded_call.CallForm) -> float:
    """When the loaded files of the program were last written."""
    folders = (session.get("cwd"), os.path.dirname(session.get("script") or ""))
    homes = tuple(folder + os.sep for folder in folders if folder)
    newest = 0.0
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or "site-packages" in file:
            continue
        if file.startswith(homes) or _defines_target(module, form):
            try:
                newest = max(newest, os.stat(file).st_mtime)
            except OSError:
                continue
    return newest


def _defines_target(module: Any, form: recorded_call.CallForm) -> bool:
    owner = getattr(form.target, "__self__", form.target)
    owner = owner if hasattr(owner, "__module__") else type(owner)
    return getattr(owner, "__module__", None) == getattr(module, "__name__", "")
