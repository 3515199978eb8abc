"""Intercepted calls: what one costs in either mode, beside what it cannot be cheaper than.

Every figure is a ratio of two measurements of this run, taken in turn. Where nothing but this
process is at work, its processor time counts, so that neighbours on the machine do not.
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

from bench.called import add, deep, last
from bench.http import Http
from bench.server import Server
from holdfast import configure_debug, with_debug
from holdfast.client.client_settings import Settings
from holdfast.client.leased_call import LeasedCalls
from holdfast.client.stacks import Stacks
from holdfast.client.switch import switch

DEPTH = 10
_SKIP = {"action": "skip", "fake_result": {"value": -1}}


@dataclass(frozen=True)
class Ratio:
    """One figure, what it is held against, and how many times that it may at most be."""

    name: str
    unit: str
    ours: float
    base_name: str
    base: float
    at_most: float

    @property
    def ratio(self) -> float:
        return self.ours / self.base


@dataclass(frozen=True)
class Storm:
    """Calls from several threads while breakpoints come and go."""

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


def leased_calls() -> LeasedCalls:
    assert switch.recorder is not None
    assert switch.recorder.leased_calls is not None
    return switch.recorder.leased_calls


def each(work: Callable[[], object], times: int, clock: Callable[[], float]) -> float:
    """Microseconds of one."""
    began = clock()
    for _ in range(times):
        work()
    return (clock() - began) / times * 1e6


def in_turn(rounds: int, *ways: Callable[[], float]) -> list[float]:
    """The fastest of each way, measured one after the other: the least disturbed."""
    readings = [[way() for way in ways] for _ in range(rounds)]
    return [min(column) for column in zip(*readings, strict=True)]


# -- strict --------------------------------------------------------------------------------------


def strict(server: Server, rounds: int) -> Ratio:
    with debugging(server, "strict"), contextlib.closing(Http(server.url)) as http:
        called = with_debug(add)
        ours, base = in_turn(
            rounds,
            lambda: each(lambda: called(1, 2), 100, time.perf_counter),
            lambda: each(lambda: http.ask("GET", "/health"), 100, time.perf_counter),
        )
    return Ratio("strict call, small arguments", "µs", ours, "GET /health", base, 4)


def large(server: Server, rounds: int) -> Ratio:
    """The same list again: it has to be looked at, and it has not changed."""
    items = list(range(310_000))

    def base() -> None:
        hashlib.sha256(pickle.dumps(items, 5)).hexdigest()

    with debugging(server, "strict"):
        called = with_debug(last)
        called(items)
        ours, bare = in_turn(
            rounds,
            lambda: each(lambda: called(items), 3, time.perf_counter),
            lambda: each(base, 3, time.perf_counter),
        )
    name = "strict call, an unchanged list of 1 MB"
    return Ratio(name, "µs", ours, "one pickle and SHA-256", bare, 3)


# -- leased --------------------------------------------------------------------------------------


def viztracer(calls: int) -> float:
    """One call that viztracer records with its arguments and its result."""
    from viztracer import VizTracer

    tracer = VizTracer(
        log_func_args=True, log_func_retval=True, verbose=0, tracer_entries=calls * 4 + 1000
    )
    tracer.start()
    taken = deep(DEPTH - 2, lambda: _loop(add, calls))
    tracer.stop()
    tracer.clear()
    return taken


def _loop(called: Callable[[int, int], int], calls: int) -> float:
    began = time.process_time()
    for number in range(calls):
        called(number, 2)
    return (time.process_time() - began) / calls * 1e6


def leased(server: Server, rounds: int, calls: int) -> Ratio:
    """All of this process, the thread that sends too."""
    with debugging(server, "leased"):
        called = with_debug(add)
        _loop(called, 100)
        ours, base = in_turn(
            rounds, lambda: deep(DEPTH - 2, lambda: _loop(called, calls)), lambda: viztracer(calls)
        )
    return Ratio("leased call, 10 frames deep", "µs", ours, "viztracer", base, 6)


def sustained(server: Server, rounds: int, calls: int, base: float) -> Ratio:
    """Until the last of them is in the database, by the clock on the wall."""
    with debugging(server, "leased"), contextlib.closing(Http(server.url)) as http:
        called = with_debug(add)

        def ours() -> float:
            began = time.perf_counter()
            deep(DEPTH - 2, lambda: _loop(called, calls))
            leased_calls().flush()
            http.ask("GET", "/api/functions")  # which waits until all is written
            return (time.perf_counter() - began) / calls * 1e6

        [found] = in_turn(rounds, ours)
    return Ratio("leased calls, all of them persisted", "µs", found, "viztracer", base, 12)


def stack(rounds: int) -> Ratio:
    known = Stacks()

    def ours() -> None:
        known.capture(sys._getframe(1))

    def walk() -> None:
        found = []
        frame: Any = sys._getframe(1)
        while frame is not None:
            code = frame.f_code
            line = linecache.getline(code.co_filename, frame.f_lineno, frame.f_globals)
            found.append((code.co_filename, frame.f_lineno, code.co_name, line.strip()))
            frame = frame.f_back

    def measured(work: Callable[[], None]) -> Callable[[], float]:
        return lambda: deep(DEPTH - 6, lambda: each(work, 2000, time.process_time))

    found, base = in_turn(rounds, measured(ours), measured(walk))
    return Ratio("capturing the stack, 10 deep", "µs", found, "a walk with linecache", base, 1 / 3)


# -- none escapes, none is lost ------------------------------------------------------------------


def storm(server: Server, calls: int, threads: int = 4) -> Storm:
    """Breakpoints are armed and removed at random while every thread calls as fast as it can."""
    state, escaped = [-1], [0] * threads
    ready = threading.Barrier(threads + 1)
    with debugging(server, "leased"), contextlib.closing(Http(server.url)) as http:
        assert switch.recorder is not None
        session = str(switch.recorder.session_id)
        called = with_debug(("stormy", add))

        def work(number: int) -> None:
            ready.wait()
            for each in range(calls // threads):
                before = state[0]
                found = called(each, number)
                # Where nothing changed meanwhile, it is known what has to come of it.
                if before >= 0 and before == state[0] and (found == -1) != bool(before % 2):
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
            point = http.ask("POST", "/api/breakpoints", {"alias": "stormy", "action": _SKIP})
            changes += 1
            state[0] = changes
            time.sleep(chance.uniform(0, 0.03))
            state[0] = -1
            http.ask("DELETE", f"/api/breakpoints/{point['id']}")
            changes += 1
            state[0] = changes
        for thread in running:
            thread.join()
        leased_calls().flush()
        http.ask("GET", "/api/functions")
    made = calls // threads * threads
    return Storm(threads, made, changes, sum(escaped), made - _rows(server, session))


def _rows(server: Server, session: str) -> int:
    path = f"file:{server.data_dir / 'holdfast.db'}?mode=ro"
    number = int(session.rpartition("_")[2], 16)
    with contextlib.closing(sqlite3.connect(path, uri=True)) as connection:
        sql = "SELECT count(*) FROM calls WHERE session = ?"
        return int(connection.execute(sql, (number,)).fetchone()[0])
