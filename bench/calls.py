"""The cost of an intercepted call in each mode, beside a lower bound for it.

Every figure is a ratio of two measurements that are taken in turn in this run. Where only this
process works, its processor time is measured, so that other load does not count.
"""

from __future__ import annotations

import contextlib
import hashlib
import linecache
import pickle
import random
import sqlite3
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from bench.called_functions import add, call_in_depth, last
from bench.http_client import HttpClient
from bench.measurements import Ratio, measure_in_turn, time_each
from bench.server import Server
from holdfast import configure_debug, with_debug
from holdfast.client.client_settings import Settings
from holdfast.client.leased_call import LeasedCalls
from holdfast.client.stacks import Stacks
from holdfast.client.switch import switch

DEPTH = 10
_SKIP = {"action": "skip", "fake_result": {"value": -1}}


@dataclass(frozen=True)
class EscapeCheck:
    """Calls from several threads while breakpoints are added and removed."""

    threads: int
    calls: int
    changes: int
    escaped: int
    lost: int


@contextlib.contextmanager
def debugging(server: Server, mode: str) -> Iterator[None]:
    configure_debug(server_url=server.url, mode=mode)
    with_debug("ON")
    try:
        yield
    finally:
        with_debug("OFF")
        switch.settings = Settings()


def current_leased_calls() -> LeasedCalls:
    assert switch.recorder is not None
    assert switch.recorder.leased_calls is not None
    return switch.recorder.leased_calls


# -- strict --------------------------------------------------------------------------------------


def measure_strict(server: Server, rounds: int) -> Ratio:
    with debugging(server, "strict"), contextlib.closing(HttpClient(server.url)) as http:
        proxy = with_debug(add)
        ours, base = measure_in_turn(
            rounds,
            lambda: time_each(lambda: proxy(1, 2), 100, time.perf_counter),
            lambda: time_each(lambda: http.request("GET", "/health"), 100, time.perf_counter),
        )
    return Ratio("strict call, small arguments", "µs", ours, "GET /health", base, 4)


def measure_large_argument(server: Server, rounds: int) -> Ratio:
    """Pass the same unchanged list again: the client has to check that it has not changed."""
    items = list(range(310_000))

    def pickle_and_hash() -> None:
        hashlib.sha256(pickle.dumps(items, 5)).hexdigest()

    with debugging(server, "strict"):
        proxy = with_debug(last)
        proxy(items)
        ours, base = measure_in_turn(
            rounds,
            lambda: time_each(lambda: proxy(items), 3, time.perf_counter),
            lambda: time_each(pickle_and_hash, 3, time.perf_counter),
        )
    name = "strict call, an unchanged list of 1 MB"
    return Ratio(name, "µs", ours, "one pickle and SHA-256", base, 3)


# -- leased --------------------------------------------------------------------------------------


def time_viztracer(calls: int) -> float:
    """Return the µs of a call that viztracer records with its arguments and its result."""
    from viztracer import VizTracer

    tracer = VizTracer(
        log_func_args=True, log_func_retval=True, verbose=0, tracer_entries=calls * 4 + 1000
    )
    tracer.start()
    taken = call_in_depth(DEPTH - 2, lambda: _loop(add, calls))
    tracer.stop()
    tracer.clear()
    return taken


def _loop(function: Callable[[int, int], int], calls: int) -> float:
    """Return the µs of one call, in processor time."""
    start = time.process_time()
    for number in range(calls):
        function(number, 2)
    return (time.process_time() - start) / calls * 1e6


def measure_leased(server: Server, rounds: int, calls: int) -> Ratio:
    """Measure all of this process, including the thread that sends the batches."""
    with debugging(server, "leased"):
        proxy = with_debug(add)
        _loop(proxy, 100)
        ours, base = measure_in_turn(
            rounds,
            lambda: call_in_depth(DEPTH - 2, lambda: _loop(proxy, calls)),
            lambda: time_viztracer(calls),
        )
    return Ratio("leased call, 10 frames deep", "µs", ours, "viztracer", base, 6)


def measure_persisted(server: Server, rounds: int, calls: int, base: float) -> Ratio:
    """Measure until the last call is in the database, in elapsed time."""
    with debugging(server, "leased"), contextlib.closing(HttpClient(server.url)) as http:
        proxy = with_debug(add)

        def call_and_persist() -> float:
            start = time.perf_counter()
            call_in_depth(DEPTH - 2, lambda: _loop(proxy, calls))
            current_leased_calls().flush()
            http.request("GET", "/api/functions")  # waits until the store has written everything
            return (time.perf_counter() - start) / calls * 1e6

        [ours] = measure_in_turn(rounds, call_and_persist)
    return Ratio("leased calls, all of them persisted", "µs", ours, "viztracer", base, 12)


def measure_stack(rounds: int) -> Ratio:
    stacks = Stacks()

    def capture() -> None:
        stacks.capture(sys._getframe(1))

    def walk() -> None:
        frames = []
        frame: Any = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            line = linecache.getline(code.co_filename, frame.f_lineno, frame.f_globals)
            frames.append((code.co_filename, frame.f_lineno, code.co_name, line.strip()))
            frame = frame.f_back

    def time_in_depth(work: Callable[[], None]) -> Callable[[], float]:
        return lambda: call_in_depth(DEPTH - 6, lambda: time_each(work, 2000, time.process_time))

    ours, base = measure_in_turn(rounds, time_in_depth(capture), time_in_depth(walk))
    return Ratio("capturing the stack, 10 deep", "µs", ours, "a walk with linecache", base, 1 / 3)


# -- no call escapes a breakpoint, no call is lost -----------------------------------------------


def check_escapes(server: Server, calls: int, threads: int = 4) -> EscapeCheck:
    """Add and remove breakpoints at random while every thread calls as fast as it can."""
    state, escaped = [-1], [0] * threads
    ready = threading.Barrier(threads + 1)
    with debugging(server, "leased"), contextlib.closing(HttpClient(server.url)) as http:
        assert switch.recorder is not None
        session = str(switch.recorder.session_id)
        proxy = with_debug(("stormy", add))

        def work(number: int) -> None:
            ready.wait()
            for left in range(calls // threads):
                before = state[0]
                result = proxy(left, number)
                # If no breakpoint changed during the call, its result is known.
                if before >= 0 and before == state[0] and (result == -1) != bool(before % 2):
                    escaped[number] += 1

        running = [threading.Thread(target=work, args=(number,)) for number in range(threads)]
        for thread in running:
            thread.start()
        ready.wait()
        changes = 0
        chance = random.Random(4)
        while any(thread.is_alive() for thread in running):
            time.sleep(chance.uniform(0, 0.3))
            state[0] = -1
            point = http.request("POST", "/api/breakpoints", {"alias": "stormy", "action": _SKIP})
            changes += 1
            state[0] = changes
            time.sleep(chance.uniform(0, 0.03))
            state[0] = -1
            http.request("DELETE", f"/api/breakpoints/{point['id']}")
            changes += 1
            state[0] = changes
        for thread in running:
            thread.join()
        current_leased_calls().flush()
        http.request("GET", "/api/functions")
    made = calls // threads * threads
    return EscapeCheck(threads, made, changes, sum(escaped), made - _count_rows(server, session))


def _count_rows(server: Server, session: str) -> int:
    path = f"file:{server.data_dir / 'holdfast.db'}?mode=ro"
    number = int(session.rpartition("_")[2], 16)
    with contextlib.closing(sqlite3.connect(path, uri=True)) as connection:
        sql = "SELECT count(*) FROM calls WHERE session = ?"
        return int(connection.execute(sql, (number,)).fetchone()[0])
