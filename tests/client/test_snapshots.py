"""Values as bytes: faithful elsewhere, the same while nothing changes, and no larger than told."""

from __future__ import annotations

import base64
import contextlib
import decimal
import enum
import itertools
import json
import os
import socket
import subprocess
import sys
import threading
from collections import namedtuple
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from application import Application
from harness import Server
from holdfast import (
    DebugCIDMismatchError,
    DebugCIDNotFoundError,
    DebugSerializationError,
    with_debug,
)
from holdfast.client import equality, references
from holdfast.client.definitions import Stored, all_needed
from holdfast.client.snapshots import Snapshot, Snapshots, cid_of, restore
from holdfast.client.value_parcel import MAX_SENT, SentValues
from scripted_server import CONTINUE, ScriptedServer, accept_all, format_response


class Thing:
    def __init__(self, value: Any = None) -> None:
        self.value = value


class Refuses:
    """Cannot be stored by anything."""

    def __reduce_ex__(self, protocol: Any) -> Any:
        raise RuntimeError("I shall not be pickled")


def keep(value: Any) -> Any:
    return value


def round_trip(value: Any) -> Any:
    """Stored and restored, every class and function anew."""
    shot = Snapshots().take(value)
    needed = all_needed([shot])
    return restore(shot.data, lambda cid: needed[cid].data)


# -- what can be stored --------------------------------------------------------------------------


def test_compute_cid_deterministic() -> None:
    snapshots = Snapshots()
    for value in (1, "a", [1, {"b": {2, 3}}], Thing([1]), keep, lambda x: x):
        assert snapshots.take(value).cid == snapshots.take(value).cid


def test_compute_cid_different_for_different_objects() -> None:
    take = Snapshots().take
    values = [1, 2, "1", [1], (1,), {1: 1}, Thing(1), Thing(2), None, 1.0, True]
    assert len({take(value).cid for value in values}) == len(values)


def test_a_cid_is_the_sha256_of_the_bytes() -> None:
    shot = Snapshots().take([1, 2])
    assert shot.cid == cid_of(shot.data)


@pytest.mark.parametrize(
    "value",
    [
        0,
        -1,
        10**40,
        0.5,
        1j,
        True,
        None,
        "é\udc80",
        b"\0",
        [1, [2]],
        {"a": (1, {2})},
        range(3),
        ...,
    ],
    ids=repr,
)
def test_dill_serialize_basic_types(value: Any) -> None:
    assert round_trip(value) == value
    assert type(round_trip(value)) is type(value)


def test_dill_serialize_class_instances() -> None:
    class Local(Thing):
        pass

    assert round_trip(Thing(3)).value == 3
    made = round_trip([Local(1), Local(2)])
    assert type(made[0]).__name__ == "Local"
    assert type(made[0]) is type(made[1])
    assert type(made[0]).__mro__[1] is Thing


def test_dill_serialize_functions() -> None:
    assert round_trip(keep) is keep
    assert round_trip(len) is len
    assert round_trip(Thing(4).__init__).__self__.value == 4  # type: ignore[misc]


def test_dill_serialize_lambdas() -> None:
    assert round_trip(lambda x: x + 1)(2) == 3


def test_dill_serialize_closures() -> None:
    held = [1]

    def add(more: int) -> list[int]:
        held.append(more)
        return held

    assert round_trip(add)(2) == [1, 2]
    assert held == [1]


def test_dill_serialize_circular_references() -> None:
    ring: list[Any] = [1]
    ring.append(ring)
    made = round_trip(ring)
    assert made[1] is made
    thing = Thing()
    thing.value = [thing]
    again = round_trip(thing)
    assert again.value[0] is again


def test_classes_in_a_circle_stay_one_each() -> None:
    class Shape:
        def rounder(self) -> Any:
            return Circle()

    class Circle(Shape):
        pass

    shape, circle = round_trip([Shape(), Circle()])
    assert isinstance(circle, type(shape))
    assert type(shape.rounder()) is type(circle)


@pytest.mark.parametrize("value", [threading.Lock(), sys, json], ids=["lock", "sys", "json"])
def test_what_pickle_refuses_goes_to_dill(value: Any) -> None:
    assert type(round_trip(value)) is type(value)


def test_dill_failure_raises_serialization_error() -> None:
    with pytest.raises(DebugSerializationError, match="Refuses cannot be stored: RuntimeError"):
        Snapshots().take([Refuses()].pop())
    with socket.socket() as plug, pytest.raises(DebugSerializationError):
        Snapshots().take(plug)


def test_a_placeholder_may_stand_for_what_cannot_be_stored() -> None:
    shot = Snapshots(placeholders=True).take(Refuses())
    assert shot.marker == "unpicklable"
    found = restore(shot.data, _nothing)
    assert isinstance(found, references.Omitted)
    assert "Refuses" in repr(found)
    assert "I shall not be pickled" in repr(found)


def test_proxies_are_stored_as_their_targets(app: Application) -> None:
    snapshots = Snapshots()
    target = [1]
    assert snapshots.take(with_debug(target)).cid == snapshots.take(target).cid
    assert round_trip({"in": with_debug(Thing(3))})["in"].value == 3
    assert type(round_trip([with_debug(target)])[0]) is list


def test_a_value_over_the_cap_is_marked() -> None:
    shot = Snapshots(max_bytes=10_000).take(["x" * 50] * 3 + list(range(100_000)))
    assert shot.marker == "too_large"
    assert len(shot.data) < 500
    assert "more than 10000 bytes" in repr(restore(shot.data, _nothing))


def test_what_is_over_the_cap_has_an_id_of_its_own() -> None:
    snapshots = Snapshots(max_bytes=1000)
    first, second = ["a" * 999, 1, 2], ["a" * 999, 1, 3]
    shot = snapshots.take(first)
    assert shot.cid == snapshots.take(first).cid == snapshots.take(["a" * 999, 1, 2]).cid
    assert shot.cid != snapshots.take(second).cid
    assert snapshots.take("x" * 2000).cid != snapshots.take("y" * 2000).cid
    assert snapshots.retake(shot, first) is None
    assert snapshots.take_current(shot, first).cid == shot.cid
    first[-1] = 3
    changed = snapshots.retake(shot, first)
    assert changed is not None
    assert changed.cid == snapshots.take(second).cid
    assert snapshots.take_current(shot, first).cid == changed.cid


def test_over_the_cap_hashing_sees_what_pickle_refuses() -> None:
    snapshots = Snapshots(max_bytes=1000)
    value: list[Any] = ["a" * 2000, lambda: 1, 1]
    shot = snapshots.take(value)
    assert shot.marker == "too_large"
    value[-1] = 2
    assert snapshots.retake(shot, value) is not None


def _steps() -> Any:
    yield 1


def test_what_is_under_way_has_an_id_of_its_own() -> None:
    take = Snapshots().take
    one, two = _steps(), _steps()
    assert take(one).cid == take(one).cid
    assert take(one).cid != take(two).cid
    assert take([one]).cid != take([two]).cid


def test_what_cannot_be_stored_has_an_id_of_its_own() -> None:
    snapshots = Snapshots(placeholders=True)
    one, two = Stubborn(1), Stubborn(1)
    shot = snapshots.take(one)
    assert shot.cid == snapshots.take(one).cid == snapshots.take_current(shot, one).cid
    assert shot.cid != snapshots.take(two).cid
    assert snapshots.retake(shot, one) is None
    one.value = 2
    changed = snapshots.retake(shot, one)
    assert changed is not None
    assert changed.cid == snapshots.take_current(shot, one).cid != shot.cid


class Stubborn(Refuses):
    def __init__(self, value: Any) -> None:
        self.value = value

    def __repr__(self) -> str:
        return f"Stubborn({self.value})"


@contextlib.contextmanager
def _manage() -> Any:
    yield 1


@contextlib.asynccontextmanager
async def _manage_async() -> Any:
    yield 1


@pytest.mark.parametrize(
    ("make", "marker"),
    [
        (_manage, "generator"),
        (_manage_async, "async_generator"),
        (lambda: {"steps": [_steps()]}, "generator"),
        (lambda: Thing((sys._getframe(),)), "frame"),
    ],
)
def test_a_value_with_a_generator_or_frame_in_it_is_marked(
    make: Callable[[], Any], marker: str
) -> None:
    assert Snapshots().take(make()).marker == marker


def test_a_context_manager_is_a_result_and_no_error(app: Application) -> None:
    with with_debug(_manage)() as found:
        assert found == 1
    assert app.read_call("_manage")["marker"] == "generator"
    assert len(with_debug(lambda: [_steps()])()) == 1
    assert len(with_debug(keep)([_steps()])) == 1
    assert app.read_call("keep")["args"][0]["marker"] == "generator"


def test_previews_are_those_of_the_value_itself(app: Application) -> None:
    app.restart(max_value_bytes=1000)
    wrapped = with_debug(keep)
    wrapped("a" * 2000)
    wrapped("b" * 2000)
    assert app.read_call("keep")["args"][0]["text"].startswith("'bbb")


def test_the_cap_stops_a_pickler_that_would_go_on_for_ever() -> None:
    class Endless:
        def __reduce__(self) -> Any:
            return list, (), None, (bytes(size) for size in itertools.count(1_000_000))

    assert Snapshots(max_bytes=1 << 20).take(Endless()).marker == "too_large"


def _nothing(cid: str) -> bytes:
    raise AssertionError("nothing is to be fetched")


# -- in a fresh interpreter ------------------------------------------------------------------------

PROGRAM = """
import base64, enum, json, sys
from dataclasses import dataclass
from collections import namedtuple
from holdfast.client.definitions import all_needed
from holdfast.client.snapshots import Snapshots

FACTOR = 3
Pair = namedtuple("Pair", "a b")

class Base:
    count = 0
    def __init__(self, v): self.v = v
    def scaled(self): return self.v * FACTOR
    def derived(self): return Derived(self.v)

class Derived(Base):
    def scaled(self): return super().scaled() + helper(1)

@dataclass
class Record:
    x: int
    inner: object = None

class Level(enum.Enum):
    LOW = 1
    HIGH = 2

class Slotted:
    __slots__ = ("a",)
    def __init__(self, a): self.a = a

def helper(n): return n * FACTOR
def even(n): return n == 0 or odd(n - 1)
def odd(n): return n != 0 and even(n - 1)
def maker(k):
    def inner(x): return x + k + FACTOR
    return inner
def local_class():
    class Local:
        def hi(self): return "hi"
    return Local()

ring = Record(1); ring.inner = [ring]
cases = {
    "instance": (Base(5), "o.scaled() == 15"),
    "derived": (Derived(5), "o.scaled() == 18 and type(o).__mro__[1].__name__ == 'Base'"),
    "circle": (
        [Base(1), Derived(2)],
        "isinstance(o[1], type(o[0])) and type(o[0].derived()) is type(o[1])",
    ),
    "dataclass": (Record(1, Record(2)), "o.x == 1 and o.inner.x == 2 and type(o) is type(o.inner)"),
    "namedtuple": (Pair(1, 2), "o.b == 2"),
    "enum": ([Level.HIGH, Level.HIGH], "o[0].name == 'HIGH' and o[0] is o[1]"),
    "slots": (Slotted(4), "o.a == 4"),
    "function": (helper, "o(2) == 6"),
    "mutual": (even, "o(10) is True and o(7) is False"),
    "closure": (maker(10), "o(1) == 14"),
    "lambda": (lambda x: helper(x) + 1, "o(2) == 7"),
    "local class": (local_class(), "o.hi() == 'hi'"),
    "cycle": (ring, "o.inner[0] is o"),
    "class": (Base, "o(2).scaled() == 6"),
    "bound": (Base(2).scaled, "o() == 6"),
    "nested": (
        {"f": [lambda: FACTOR], "r": Record(Base(1))},
        "o['f'][0]() == 3 and o['r'].x.scaled() == 3",
    ),
}
snapshots, out = Snapshots(), {}
for name, (value, check) in cases.items():
    shot = snapshots.take(value)
    needed = {cid: base64.b64encode(each.data).decode() for cid, each in all_needed([shot]).items()}
    out[name] = [base64.b64encode(shot.data).decode(), needed, check]
print(json.dumps(out))
"""
LOADER = """
import base64, json, sys
from holdfast.client.snapshots import restore
for name, (data, needed, check) in json.load(sys.stdin).items():
    try:
        o = restore(base64.b64decode(data), lambda cid: base64.b64decode(needed[cid]))
        good = eval(check, {"o": o})
    except Exception as problem:
        good = f"{type(problem).__name__}: {problem}"
    if good is not True:
        print(name, good)
"""


def test_what_main_defines_restores_in_a_fresh_interpreter(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(PROGRAM)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    stored = _run_command([sys.executable, str(program)], env, "")
    assert len(json.loads(stored)) == 16
    assert _run_command([sys.executable, "-c", LOADER], env, stored) == ""


APPLICATION = """
from holdfast import with_debug

class Item:
    def __init__(self, price): self.price = price
    def doubled(self): return self.price * 2

def total(items): return sum(each.doubled() for each in items)

with_debug("ON")
with_debug(total)([Item(2), Item(3)])
"""
READER = """
import sys, urllib.request, dill
from holdfast.client.discovery import server_url
data = urllib.request.urlopen(f"{server_url()}/api/cid/{sys.argv[1]}").read()
print([each.doubled() for each in dill.loads(data)])
"""


def test_dill_alone_restores_what_the_server_holds(server: Server, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(APPLICATION)
    path = os.pathsep.join(path for path in sys.path if path)
    env = {**os.environ, "PYTHONPATH": path, "HOLDFAST_SERVER_URL": server.url}

    _run_command([sys.executable, str(program)], env, "")

    [call] = server.get("/api/calls?function=total&limit=1")["calls"]
    [argument] = server.get(f"/api/calls/{call['call_id']}")["args"]
    assert _run_command([sys.executable, "-c", READER, argument["cid"]], env, "") == "[4, 6]\n"


def _run_command(command: list[str], env: dict[str, str], given: str) -> str:
    ran = subprocess.run(command, env=env, input=given, capture_output=True, text=True, timeout=60)
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


def test_a_class_by_value_is_stored_once() -> None:
    class Heavy:
        text = "x" * 10_000

    snapshots = Snapshots()
    first, second = snapshots.take(Heavy()), snapshots.take([Heavy(), Heavy()])
    assert first.needs[0].cid == second.needs[0].cid
    assert len(first.data) < 1000
    assert len(second.data) < 1000


def test_a_function_whose_globals_cannot_be_stored_can_still_be_wrapped(app: Application) -> None:
    refuses = Refuses()

    def uses() -> str:
        return type(refuses).__name__

    assert with_debug(uses)() == "Refuses"


# -- what a call changed ---------------------------------------------------------------------------


def test_an_unchanged_value_is_recognised_without_hashing() -> None:
    snapshots, value = Snapshots(), list(range(1000))
    shot = snapshots.take(value)
    assert snapshots.retake(shot, value) is None
    value.append(1)
    after = snapshots.retake(shot, value)
    assert after is not None
    assert after.cid != shot.cid


@pytest.mark.parametrize("value", [1, "a", (1, (2, "b")), frozenset([1]), decimal.Decimal(1)])
def test_what_cannot_change_is_not_looked_at_again(value: Any) -> None:
    assert Snapshots().take(value).fixed


@pytest.mark.parametrize("value", [[1], ([],), Thing(), {}])
def test_what_can_change_is(value: Any) -> None:
    assert not Snapshots().take(value).fixed


def test_arguments_are_captured_before_and_after(app: Application) -> None:
    def spoil(items: list[int], *, table: dict[str, int]) -> None:
        items.append(2)
        table["b"] = 2

    with_debug(spoil)([1], table={"a": 1})
    call = app.read_call("spoil")
    assert call["args"][0]["text"] == "[1]"
    assert call["kwargs"]["table"]["text"] == "{'a': 1}"
    assert call["changed"]["args"]["0"]["text"] == "[1, 2]"
    assert call["changed"]["kwargs"]["table"]["text"] == "{'a': 1, 'b': 2}"


def test_the_targets_state_is_captured_before_and_after(app: Application) -> None:
    numbers = with_debug([1])
    before = numbers._cid
    numbers.append(2)
    call = app.read_call("append")
    assert call["target_cid"] == before
    assert call["changed"]["target"]["text"] == "[1, 2]"
    assert numbers._cid == call["changed"]["target"]["cid"]
    len(numbers)
    assert not app.read_call("__len__")["changed"]


# -- how values travel -----------------------------------------------------------------------------


def test_cid_deduplication_first_send(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted()
    with_debug(keep)([1, 2])
    [item] = server.bodies("/api/call/start")[0]["args"]
    assert cid_of(base64.b64decode(item["data"])) == item["cid"]
    assert item["preview"] == {"text": "[1, 2]", "type": "list", "length": 2, "json": [1, 2]}


def test_cid_deduplication_subsequent_send(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted()
    function = with_debug(keep)
    function([1, 2])
    function([1, 2])
    first, second = server.bodies("/api/call/start")
    assert second["args"] == [{"cid": first["args"][0]["cid"]}]
    assert "target" in first
    assert "target" not in second


def test_cid_lru_cache_eviction() -> None:
    sent = SentValues()
    sent.add(str(number) for number in range(MAX_SENT))
    assert "0" in sent  # and thereby used again
    sent.add(["one more"])
    assert "0" in sent
    assert "1" not in sent
    assert len(sent) == MAX_SENT == 10_000


def test_cid_cache_miss_resend(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted(accept_all(start=_report_missing(times=1)))
    assert with_debug(keep)([1]) == [1]
    first, second = server.bodies("/api/call/start")
    assert "data" in second["args"][0]
    assert first["args"][0]["cid"] == second["args"][0]["cid"]


def _report_missing(times: int) -> Callable[[Any], Any]:
    """Says that it lacks every argument, so many times."""
    left = [times]

    def start(body: Any) -> Any:
        if not left[0]:
            return CONTINUE
        left[0] -= 1
        missing = [item["cid"] for item in body["args"]]
        error = {"error": "cid_not_found", "missing_cids": missing, "message": "Resend"}
        return format_response(error, 404)

    return start


def test_cid_server_verification(app: Application) -> None:
    body = {
        "method_name": "f",
        "target_cid": "0" * 64,
        "args": [{"cid": "1" * 64, "data": base64.b64encode(b"other").decode()}],
        "kwargs": {},
        "call_site": {"timestamp": 1.0, "target_cid": "0" * 64, "stack_trace": []},
    }
    assert app.server.post("/api/call/start", body, expect=400)["error"] == "cid_mismatch"


def test_cid_mismatch_raises_error(scripted: Callable[..., ScriptedServer]) -> None:
    refusal = {"error": "cid_mismatch", "cid": "1" * 64, "message": "not what it says"}
    scripted(accept_all(start=format_response(refusal, 400)))
    with pytest.raises(DebugCIDMismatchError, match="not what it says"):
        with_debug(keep)(1)


def test_cid_not_found_raises_error(scripted: Callable[..., ScriptedServer]) -> None:
    server = scripted(accept_all(start=_report_missing(times=99)))
    with pytest.raises(DebugCIDNotFoundError, match="does not have"):
        with_debug(keep)(1)
    assert len(server.bodies("/api/call/start")) == 2


def test_cid_recovery_after_not_found(app: Application) -> None:
    """The client believes that the server has a value that it has not."""
    function = with_debug(keep)
    value = ["never sent", id(app)]
    recorder = app.info._recorder
    assert recorder is not None
    recorder.sent.add([recorder.snapshots.take(value).cid])
    assert function(value) == value
    assert app.read_call("keep")["args"][0]["text"] == repr(value)


def test_definitions_travel_with_what_needs_them(scripted: Callable[..., ScriptedServer]) -> None:
    class Local:
        pass

    server = scripted()
    with_debug(keep)(Local())
    with_debug(keep)([Local()])
    first, second = server.bodies("/api/call/start")
    [need] = first["needs"]
    assert cid_of(base64.b64decode(need["data"])) == need["cid"]
    assert "needs" not in second


# -- the equality key ------------------------------------------------------------------------------


class Mood(enum.Enum):
    GOOD = 1


Pair = namedtuple("Pair", "a b")


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ({"a": 1, "b": 2}, {"b": 2, "a": 1}),
        ({8, 0}, {0, 8}),
        ([[1], [1]], [[1]] * 2),
        (["na" + "me"] * 2, ["name", "".join(["na", "me"])]),
        (Thing({1: 2, 3: 4}), Thing({3: 4, 1: 2})),
        (Mood.GOOD, Mood(1)),
        (Pair(1, {2}), Pair(1, {2})),
        (keep, keep),
    ],
)
def test_equal_values_have_one_key(left: Any, right: Any) -> None:
    assert equality.key(left) == equality.key(right) is not None


def test_different_values_have_different_keys() -> None:
    values: list[Any] = [0, 1, 1.0, True, "1", b"1", [1], (1,), {1}, {1: 1}, None, Thing(1), keep]
    values += [0.0, -0.0, Thing(2), [[1]], [1, 1], {1: [1]}, frozenset([1]), Pair(1, 1), (1, 1)]
    assert len({equality.key(value) for value in values}) == len(values)


def test_a_cycle_has_a_key_and_a_bomb_has_none() -> None:
    ring: list[Any] = [1]
    ring.append(ring)
    other: list[Any] = [1]
    other.append(other)
    assert equality.key(ring) == equality.key(other) is not None
    bomb: list[Any] = [1]
    for _ in range(40):
        bomb = [bomb, bomb]
    assert equality.key(bomb) is None
    assert equality.key(Refuses()) is None


def test_keys_agree_between_processes(tmp_path: Path) -> None:
    code = "from holdfast.client.equality import key; print(key({'x': {'a', 'b', 'c', ('d', 1)}}))"
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    found = {
        _run_command([sys.executable, "-c", code], {**env, "PYTHONHASHSEED": seed}, "")
        for seed in ("1", "2", "3")
    }
    assert found == {f"{equality.key({'x': {'a', 'b', 'c', ('d', 1)}})}\n"}


def test_snapshots_hold_what_they_say() -> None:
    shot = Snapshots().take([1])
    assert isinstance(shot, Snapshot)
    assert isinstance(shot, Stored)
    assert shot.needs == ()
