"""The process in which a recorded call is made again.

It is told what to do on its standard input and answers, in one JSON document, on what was its
standard output; what the program prints goes to standard error.
"""

from __future__ import annotations

import json
import os
import sys
from typing import Any

from holdfast.client import equality
from holdfast.client.exceptions import DebugError
from holdfast.client.http_client import ApiError, HttpClient
from holdfast.client.replay import generated_test, nondeterminism, recorded_call
from holdfast.client.replay.value_restorer import CannotReplay, Program, Restorer, dotted_name
from holdfast.client.snapshots import cid_of
from holdfast.client.switch import switch

Json = dict[str, Any]


def main() -> None:
    order = json.load(sys.stdin)
    answers = os.dup(1)
    os.dup2(2, 1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    answer = json.dumps(answered(order)).encode()
    sys.stdout.flush()
    with os.fdopen(answers, "wb") as out:
        out.write(answer)
    # Not through the program's own exit handlers and threads: what was asked for is done.
    os._exit(0)


def answered(order: Json) -> Json:
    try:
        return _replayed(order)
    except CannotReplay as why:
        return {"status": "cannot", "reason": str(why)}


def _replayed(order: Json) -> Json:
    call, session = order["call"], order["session"]
    recorded_call.refuse(call)
    _become(session)
    if order.get("shift"):
        nondeterminism.shift_the_clock()
    program = Program(session.get("script"), session.get("module"))
    restorer = Restorer(_fetching(order["url"]), program)
    values = recorded_call.Values(call, restorer)
    way = recorded_call.Way(call, values.target)
    recorded_call.require_current(way, restorer)
    function = way.function(values.target)
    recorded = recorded_call.Recorded(call, restorer)
    answer: Json = {"function": way.full_name(), "expected": recorded.text()}
    if order.get("test"):
        given = recorded_call.Values(call, restorer)
        test = generated_test.Test(call, restorer, given, way, recorded).written()
        observer = nondeterminism.Observer()
        with observer:
            outcome = recorded_call.make(function, values)
        test["awaited"] = outcome.awaited
        answer.update(test=test, clock=observer.clock, chance=observer.chance)
    else:
        outcome = recorded_call.make(function, values)
    found = recorded_call.compare(recorded, outcome, values, way, program.main_name())
    return {
        **answer,
        "status": "different" if found else "equal",
        "actual": outcome.text(),
        "differences": [
            {"of": of, "path": each.path, "expected": each.expected, "actual": each.actual}
            for of, each in found
        ],
        "key": _key(outcome, values),
        "code_changed_at": _newest(session, way),
        "connects": switch.was_refused,
    }


def _become(session: Json) -> None:
    """Where the recorded program was, importing from where it did."""
    sys.argv = list(session.get("argv") or [""])
    path = list(session.get("path") or [])
    script = session.get("script")
    if not path:
        path = [session.get("cwd") or os.getcwd()]
        if script:
            path.insert(0, dotted_name(script)[0])
    known = set(sys.path)
    sys.path[:0] = [each for each in path if each not in known]


def _fetching(url: str) -> Any:
    client = HttpClient(url, token=os.environ.get("HOLDFAST_TOKEN"))

    def fetch(cid: str) -> bytes:
        try:
            data = client.get_bytes(f"/api/cid/{cid}")
        except (ApiError, DebugError) as problem:
            raise CannotReplay(f"the server does not give {cid[:12]}…: {problem}") from problem
        if cid_of(data) != cid:
            raise CannotReplay(f"the server's bytes are not those that {cid[:12]}… names")
        return data

    return fetch


def _key(outcome: recorded_call.Outcome, values: recorded_call.Values) -> str:
    """Two runs of the same key had the same outcome."""
    ended = outcome.value if outcome.error is None else outcome.text()
    key = equality.key((ended, values.args, values.kwargs))
    return key or outcome.text()


def _newest(session: Json, way: recorded_call.Way) -> float:
    """When the program's own files were last written, as far as they are loaded."""
    homes = [
        each for each in (session.get("cwd"), os.path.dirname(session.get("script") or "")) if each
    ]
    newest = 0.0
    for module in list(sys.modules.values()):
        file = getattr(module, "__file__", None)
        if not isinstance(file, str) or "site-packages" in file:
            continue
        if any(file.startswith(home + os.sep) for home in homes) or _is_home(way, module):
            try:
                newest = max(newest, os.stat(file).st_mtime)
            except OSError:
                continue
    return newest


def _is_home(way: recorded_call.Way, module: Any) -> bool:
    owner = getattr(way.target, "__self__", way.target)
    owner = owner if hasattr(owner, "__module__") else type(owner)
    return getattr(owner, "__module__", None) == getattr(module, "__name__", "")
