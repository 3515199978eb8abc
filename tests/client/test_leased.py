"""Leased mode: as full a record as strict mode's, and no call past a breakpoint."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import sqlite3
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from application import Application
from background import run_in_thread
from harness import Server
from holdfast import DebugServerError, async_debug_call, configure_debug, debug_call, with_debug
from holdfast.client.lease_rules import LeaseRules, may_match_name
from holdfast.client.leased_call import LeasedCalls
from holdfast.client.switch import switch
from holdfast.wire import batch_format
from polling import wait_until


class Ledger:
    """Counts what really ran."""

    def __init__(self) -> None:
        self.rows = 0

    def add(self, number: int, extra: int = 0) -> int:
        self.rows += 1
        return number + extra

    def fill(self, items: list[int], **named: Any) -> list[int]:
        items.append(len(items))
        return items

    def fail(self, why: str) -> None:
        raise KeyError(why)

    def count(self, upto: int) -> Iterator[int]:
        yield from range(upto)

    def outer(self, inner: Callable[[int], int]) -> int:
        return inner(1)

    async def later(self, number: int) -> int:
        await asyncio.sleep(0)
        return number


def double(number: int) -> int:
    return 2 * number


def same(value: Any) -> Any:
    return value


def leased_calls() -> LeasedCalls:
    assert switch.recorder is not None
    assert switch.recorder.leased_calls is not None
    return switch.recorder.leased_calls


@pytest.fixture
def leasing(server: Server) -> Iterator[Application]:
    """This process, with a lease."""
    application = Application(server).start(mode="leased")
    try:
        yield application
    finally:
        application.stop()


def list_records(app: Application) -> list[Any]:
    leased_calls().flush()
    return app.list_calls()


def rows(app: Application) -> int:
    """How many calls there are in the database."""
    app.server.get("/api/calls?limit=1")  # which waits for what is on its way there
    [database] = app.server.data_dir.glob("*.db")
    with contextlib.closing(sqlite3.connect(f"file:{database}?mode=ro", uri=True)) as connection:
        session = int(str(app.session_id).rpartition("_")[2], 16)
        counted = "SELECT count(*) FROM calls WHERE session = ?"
        [(count,)] = connection.execute(counted, (session,)).fetchall()
    return int(count)


# -- the record ----------------------------------------------------------------------------------


def make_every_call() -> None:
    """Calls of every kind, from the same lines in both modes."""
    ledger = with_debug(("book", Ledger()))
    ledger.add(1, extra=2)
    ledger.add(3)
    ledger.fill([1, 2], where={"a": [1]})
    ledger.fill(["x" * 5000])
    with pytest.raises(KeyError):
        ledger.fail("why")
    ledger.count(3)
    debug_call(double, 4)
    debug_call("doubled", double, 2.5)
    wrapped = with_debug(double)
    debug_call(lambda: wrapped(6))
    local = type("Local", (), {"__module__": "__main__"})
    debug_call(isinstance, local(), local)

    async def asynchronous() -> None:
        await ledger.later(5)
        await async_debug_call(ledger.later, 6)

        await asyncio.create_task(ledger.later(7))

    asyncio.run(asynchronous())


def describe_records(app: Application) -> list[Any]:
    """All that a call's record says but when it was, and which one."""
    shown = []
    ids: dict[str, int] = {}
    for number, listed in enumerate(app.list_calls()):
        call = app.server.get(f"/api/calls/{listed['call_id']}")
        ids[call["call_id"]] = number
        assert call["duration_ns"] >= 0
        assert call["session_id"] == app.session_id
        for name in ("call_id", "session_id", "timestamp", "duration_ms", "duration_ns"):
            del call[name]
        del call["completed_at"], call["call_site"]["timestamp"]
        parent = call.pop("parent_call_id")
        assert call.pop("parent_id") == parent
        call["parent"] = None if parent is None else ids[parent]
        call["task"] = call["task"] is not None
        shown.append(call)
    return shown


def without_addresses(told: list[Any]) -> list[Any]:
    """A preview of the client's may have more to say than one made of the bytes."""

    def bare(value: Any) -> Any:
        if isinstance(value, dict):
            own = ("text", "cid", "result_cid") if _is_under_way(value) else ("text",)
            return {name: bare(each) for name, each in value.items() if name not in own}
        return [bare(each) for each in value] if isinstance(value, list) else value

    return [bare(each) for each in told]


def _is_under_way(value: Any) -> bool:
    """A generator is not stored; each has an id of its own."""
    return value.get("marker") is not None or value.get("type") in ("generator", "coroutine")


def test_the_record_is_that_of_strict_mode(app: Application) -> None:
    records = []
    for mode in ("strict", "leased"):
        app.restart(mode=mode)
        make_every_call()
        with_debug("OFF")
        records.append(without_addresses(describe_records(app)))
    strict, found = records

    assert [call["method_name"] for call in found] == [call["method_name"] for call in strict]
    for one, other in zip(found, strict, strict=True):
        assert one == other


class Door:
    """What cannot be pickled, and shows its state."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.is_open = False

    def __repr__(self) -> str:
        return f"a door that is {'open' if self.is_open else 'closed'}"


def open_all(doors: list[Door], numbers: list[int], *, one: Door) -> None:
    for door in (*doors, one):
        door.is_open = True
    numbers.append(0)


def test_what_a_call_does_to_values_that_are_not_stored_is_seen(app: Application) -> None:
    found = []
    for mode in ("strict", "leased"):
        app.restart(mode=mode, max_value_bytes=500, on_unpicklable="placeholder")
        with_debug(open_all)([Door()], list(range(1000)), one=Door())
        with_debug("OFF")
        changed = app.read_call("open_all")["changed"]
        found.append({part: sorted(each) for part, each in changed.items()})
    assert found == [{"args": ["0", "1"], "kwargs": ["one"]}] * 2


@pytest.mark.parametrize(
    "value",
    [
        *(0, -1, 2**63, -(10**30), 10**5000, 0.0, -0.0, 1.5, float("inf"), True, False, None),
        *("", "é", "\ud800", "],[", "x" * 64, "x" * 65, "x" * 100_000, b"bytes", b"x" * 1000),
    ],
    ids=lambda value: f"{type(value).__name__} of {len(pickle.dumps(value))} bytes",
)
def test_a_plain_value_is_recorded_as_what_it_is(leasing: Application, value: Any) -> None:
    assert with_debug(same)(value) is value

    [call] = list_records(leasing)
    whole = leasing.server.get(f"/api/calls/{call['call_id']}")
    for cid in (whole["args"][0]["cid"], whole["result"]["cid"]):
        restored = pickle.loads(leasing.read_content(cid))
        assert pickle.dumps(restored, 5) == pickle.dumps(value, 5)  # -0.0 is not 0.0, nor 1 True
        used = leasing.server.get(f"/api/cid/{cid}/calls")["calls"]
        assert used[0]["call_id"] == call["call_id"]


def test_values_are_found_by_their_ids(leasing: Application) -> None:
    ledger = with_debug(Ledger())
    ledger.add(12345)
    ledger.fill(["y" * 1000])
    [small, large] = list_records(leasing)

    for call in (small, large):
        cid = call["args"][0]["cid"]
        assert leasing.read_content(cid)
        assert leasing.server.get(f"/api/cid/{cid}/preview")["type"] in ("int", "list")
        found = leasing.server.get(f"/api/cid/{cid}/calls")["calls"]
        assert call["call_id"] in [each["call_id"] for each in found]
    assert (
        leasing.server.get("/api/calls?filter=args[0]==12345")["calls"][0]["call_id"]
        == (small["call_id"])
    )


def test_calls_within_calls_know_their_parents(leasing: Application) -> None:
    inner = with_debug(("inner", double))
    assert with_debug(Ledger()).outer(inner) == 2
    [outer, within] = list_records(leasing)

    tree = leasing.server.get(f"/api/calls/{outer['call_id']}/tree")
    assert [each["call_id"] for each in tree["call"]["children"]] == [within["call_id"]]


def test_every_call_of_many_threads_is_recorded(leasing: Application) -> None:
    ledger = with_debug(Ledger())

    def work(number: int) -> None:
        for each in range(2000):
            assert ledger.add(each, number) == each + number

    running = [run_in_thread(lambda number=number: work(number)) for number in range(4)]  # type: ignore[misc]
    for each in running:
        each.result(60)
    leased_calls().flush()

    assert rows(leasing) == 8000


# -- breakpoints ---------------------------------------------------------------------------------


@pytest.mark.slow
def test_no_call_escapes_a_breakpoint(leasing: Application) -> None:
    """Once the server has said so, all are answered by the breakpoint; once it is gone, none."""
    ledger = with_debug(Ledger())
    state = [0]  # odd while a breakpoint is known to be in force, even while none is
    escaped: list[str] = []
    made = [0] * 4
    done = threading.Event()

    def work(number: int) -> None:
        while not done.is_set():
            before = state[0]
            found = ledger.add(1)
            made[number] += 1
            if before == state[0] and (found == -1) != bool(before % 2) and before >= 0:
                escaped.append(f"{found} in {before}")

    running = [run_in_thread(lambda number=number: work(number)) for number in range(4)]  # type: ignore[misc]
    skip = {"action": "skip", "fake_result": {"value": -1}}
    settled = 0
    for _ in range(5):
        state[0] = -1
        point = leasing.break_on("add", action=skip)
        settled += 1
        state[0] = settled
        _more(made)
        state[0] = -1
        leasing.server.delete(f"/api/breakpoints/{point['id']}")
        settled += 1
        state[0] = settled
        _more(made)
    done.set()
    for each in running:
        each.result(60)
    leased_calls().flush()

    assert escaped == []
    assert rows(leasing) == sum(made)


def _more(made: list[int]) -> None:
    """Wait until every thread has made some more calls."""
    before = list(made)
    wait_until(
        lambda: all(now - then >= 3 for now, then in zip(made, before, strict=True)),
        "more calls of every thread",
        pause=0.0005,
    )


def test_sending_does_not_wait_for_calls_that_other_threads_go_on_making(
    leasing: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert switch.recorder is not None
    ledger = with_debug(Ledger())
    report = switch.recorder.send_batch

    def send_and_call(batch: Callable[[], bytes]) -> None:
        report(batch)
        # For every batch that is sent, one more call is made.
        run_in_thread(lambda: ledger.add(2)).result(60)

    monkeypatch.setattr(switch.recorder, "send_batch", send_and_call)
    ledger.add(1)
    run_in_thread(leased_calls().flush).result(60)

    monkeypatch.undo()
    leased_calls().flush()
    assert ledger.rows == rows(leasing)


def test_a_held_call_is_decided_as_in_strict_mode(leasing: Application) -> None:
    ledger = with_debug(Ledger())
    assert ledger.add(1) == 1
    leasing.break_on("add", condition="args[0] > 5")

    assert ledger.add(2) == 2
    assert leasing.run_and_decide(lambda: ledger.add(7), "skip", fake_result={"value": 70}) == 70
    assert [call["status"] for call in list_records(leasing)] == ["success"] * 3


def test_a_breakpoint_that_comes_during_a_call_still_gets_its_end(leasing: Application) -> None:
    entered, go = threading.Event(), threading.Event()

    def slow(number: int) -> int:
        entered.set()
        assert go.wait(60)
        return number

    running = run_in_thread(lambda: debug_call("slow", slow, 3))
    assert entered.wait(60)
    leasing.break_on("slow", when="after")
    go.set()
    leasing.decide(leasing.wait_for_hold(), "skip", fake_result={"value": 30})

    assert running.result(60) == 30
    [call] = list_records(leasing)
    assert call["status"] == "success"
    assert call["result"]["json"] == 3


@pytest.mark.parametrize(
    ("wanted", "name", "could"),
    [
        ("add", "add", True),
        ("add", "Ledger.add", False),
        ("Ledger.add", "Ledger.add", True),
        ("module.Ledger.add", "Ledger.add", True),
        ("module.Ledger.add", "dd", False),
        ("*", "add", True),
        ("a*", "add", True),
        ("m*d", "add", True),
        ("m*x", "add", False),
        ("*.add", "add", True),
        ("module.??d", "add", True),
        ("[am]dd", "add", True),
    ],
)
def test_a_rule_that_could_match_is_never_passed_over(wanted: str, name: str, could: bool) -> None:
    assert may_match_name(wanted, name) is could


def test_rules_that_are_off_or_of_other_sessions_concern_nobody() -> None:
    mine = {"function": "add", "enabled": True}

    def concern(*rules: Any) -> bool:
        return LeaseRules(rules, "calls_1").may_concern("add", "book", None, "proxy")

    assert concern(mine)
    assert concern({"function": None, "alias": "b*"})
    assert not concern({**mine, "enabled": False})
    assert not concern({**mine, "session_id": "calls_2"})
    assert not concern({**mine, "call_type": "inline"})
    assert not concern({**mine, "alias": "other"})


# -- bad days ------------------------------------------------------------------------------------


def outcome(work: Callable[[], Any]) -> Any:
    try:
        return work()
    except Exception as problem:
        return problem


def test_without_a_server_no_call_is_made(tmp_path: Path) -> None:
    app, ledger = Application(Server(tmp_path / "data")).start(mode="leased"), Ledger()
    try:
        proxy = with_debug(ledger)
        made = proxy.add(1)
        app.server.process.kill()
        app.server.process.wait()
        # Until the lease has run out, calls may go ahead; then none does.
        while outcome(lambda: proxy.add(1)) == 1:
            made += 1
        assert isinstance(outcome(lambda: proxy.add(1)), DebugServerError)
        assert ledger.rows == made
    finally:
        app.stop()
        app.server.close()


def test_a_server_restart_is_survived(tmp_path: Path) -> None:
    first = Server(tmp_path / "data")
    app, ledger = Application(first).start(mode="leased"), with_debug(Ledger())
    try:
        ledger = with_debug(Ledger())
        ledger.add(1)
        leased_calls().flush()
        first.stop()
        app.server = first.start_again()
        ledger.add(2)
        skip = {"action": "skip", "fake_result": {"value": -1}}
        point = app.break_on("add", action=skip)
        assert ledger.add(3) == -1
        app.server.delete(f"/api/breakpoints/{point['id']}")
        assert ledger.add(4) == 4
        assert [call["args"][0]["json"] for call in list_records(app)] == [1, 2, 3, 4]
        assert app.info.connection_status() == "connected"
    finally:
        app.stop()
        app.server.close()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
def test_a_fork_has_a_session_of_its_own(leasing: Application) -> None:
    ledger = with_debug(("forked", Ledger()))
    ledger.add(1)
    child = os.fork()
    if child == 0:
        status = 1
        try:
            ledger.add(2)
            ledger.add(3)
            leased_calls().flush()
            status = 0
        finally:
            os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    ledger.add(4)

    assert [call["args"][0]["json"] for call in list_records(leasing)] == [1, 4]
    every = leasing.server.get("/api/calls?alias=forked")["calls"]
    assert sorted(call["args"][0]["json"] for call in every) == [1, 2, 3, 4]


def test_a_full_buffer_makes_the_caller_wait(
    leasing: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(leased_calls().outbox, "max_waiting", 10)
    ledger, doubled = with_debug(Ledger()), with_debug(double)
    for number in range(100):
        ledger.add(number)
        doubled(number)
        assert len(leased_calls().outbox) <= 20  # ten of each way of being written down
    assert len(list_records(leasing)) == 200


def test_off_sends_what_is_left(server: Server) -> None:
    app = Application(server).start(mode="leased")
    try:
        ledger = with_debug(Ledger())
        for number in range(100):
            ledger.add(number)
        with_debug("OFF")
        assert len(app.list_calls()) == 100
    finally:
        app.stop()


def test_the_end_of_the_program_sends_what_is_left(server: Server) -> None:
    program = """
import holdfast, sys
holdfast.configure_debug(server_url=sys.argv[1], mode="leased")
print(holdfast.with_debug("ON").session_id())
for number in range(100):
    holdfast.debug_call(abs, -number)
"""
    command = [sys.executable, "-c", program, server.url]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    found = server.get(f"/api/calls?session={ran.stdout.strip()}&limit=500")["calls"]
    assert len(found) == 100


def test_a_session_that_was_deleted_is_begun_anew(leasing: Application) -> None:
    ledger = with_debug(Ledger())
    ledger.add(1)
    leased_calls().flush()
    leasing.server.delete(f"/sessions/{leasing.session_id}")
    ledger.add(2)
    leased_calls().flush()
    leasing.session_id = leasing.info.session_id()
    assert [call["args"][0]["json"] for call in leasing.list_calls()] == [2]


def post(app: Application, data: bytes) -> Any:
    headers = {"content-type": batch_format.MEDIA_TYPE}
    return app.server.http.post("/api/call/records", content=data, headers=headers)


def test_a_batch_is_kept_whole_or_not_at_all(leasing: Application) -> None:
    ledger = with_debug(Ledger())
    sent: list[bytes] = []
    recorder = switch.recorder
    assert recorder is not None
    before = recorder.send_batch
    recorder.send_batch = lambda build: sent.append(build())  # type: ignore[method-assign]
    leased_calls().outbox.is_awake = True  # so that nobody wakes it, and `flush` alone sends
    for number in range(3):
        ledger.add(number)
    leased_calls().flush()
    recorder.send_batch = before  # type: ignore[method-assign]
    [whole] = sent

    unknown = whole.replace(b'"call_type": "proxy"', b'"call_type": "magic"')
    assert unknown != whole
    for wrong in (whole[:-1], whole + b"!", whole[:60], b"", unknown):
        answer = post(leasing, wrong)
        assert answer.status_code == 400, answer.text
    assert leasing.list_calls() == []
    assert post(leasing, whole).json() == {"status": "ok", "taken": 3}
    assert post(leasing, whole).json() == {"status": "ok", "taken": 0}
    assert len(leasing.list_calls()) == 3


def test_only_batches_may_come_as_octets(leasing: Application) -> None:
    headers = {"content-type": batch_format.MEDIA_TYPE}
    answer = leasing.server.http.post("/api/call/start", content=b"{}", headers=headers)
    assert answer.status_code == 415


def test_the_board_is_for_its_owner_only(leasing: Application) -> None:
    [board] = leasing.server.data_dir.glob("*.board")
    assert board.stat().st_mode & 0o777 == 0o600


def test_the_mode_is_one_of_two() -> None:
    with pytest.raises(ValueError, match="leased"):
        configure_debug(mode="loose")


def test_a_condition_by_parameter_name_holds_leased_calls_and_finds_them(
    leasing: Application,
) -> None:
    """Defaults included; with what each function needs sent once, in a batch."""
    ledger = with_debug(Ledger())
    assert [ledger.add(number) for number in range(3)] == [0, 1, 2]
    leasing.break_on("Ledger.add", condition="number == 7 and extra == 0")
    assert ledger.add(6) == 6
    held = run_in_thread(lambda: ledger.add(7))
    hold = leasing.wait_for_hold()
    leasing.decide(hold, "modify", modified_kwargs={"number": {"value": 70}})
    assert held.result(60) == 70
    leased_calls().flush()
    query = {"session": leasing.session_id, "filter": "number < 2 and extra == 0"}
    found = leasing.server.http.get("/api/calls", params=query).json()
    assert [call["args"][0]["json"] for call in found["calls"]] == [1, 0]
    assert found["undecided"] == 0
