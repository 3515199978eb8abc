"""Calls in the store: how fast they come in, and how fast the latest of a function are found."""

from __future__ import annotations

import asyncio
import contextlib
import http.client
import json
import pickle
import sqlite3
import statistics
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit

from bench.calls import Ratio
from bench.http import Http
from bench.server import Server
from holdfast.core.ledger import Ledger
from holdfast.model.call import Application
from holdfast.service.calls.call_service import CallService
from holdfast.service.event_stream import EventStream
from holdfast.service.settings import Settings
from holdfast.store import open_store
from holdfast.wire import batch_format

_BATCH = 1000
_FUNCTIONS = 50
_TARGET = pickle.dumps("target", 5)
_DATABASE = "holdfast.db"
_COLUMNS = "id, session, function_id, call_type, status, parent, stack, duration_ns, cids, document"


def made(calls: int, session: int, first: int = 0) -> Iterator[bytes]:
    """Batches of calls of fifty functions, as a leased application sends them."""
    sites = [
        json.dumps(
            {
                "name": f"function_{number}",
                "call_type": "proxy",
                "signature": "(left, right)",
                "thread": {"id": 1, "name": "MainThread"},
                "frames": [
                    {"filename": "app.py", "lineno": line, "function": "f", "code_context": "f()"}
                    for line in range(10)
                ],
            }
        ).encode()
        for number in range(_FUNCTIONS)
    ]
    described = b"".join(batch_format.site(number, text) for number, text in enumerate(sites))
    target = batch_format.target(len(_TARGET), _TARGET)
    began = time.time_ns() // 1000 * 1000
    for start in range(first, first + calls, _BATCH):
        count = min(_BATCH, first + calls - start)
        every = range(start, start + count)
        yield b"".join(
            [
                batch_format.head(session, start + 1, _FUNCTIONS, 0, 0, 1, count),
                described,
                target,
                batch_format.column("q", [began + number * 9000 for number in every]),
                batch_format.column("q", [500] * count),
                batch_format.column("q", [0] * count),
                batch_format.column("I", [number % _FUNCTIONS for number in every]),
                batch_format.column("I", [0] * count),
                batch_format.column("I", [2] * count),
                batch_format.values(
                    [(number, 2) for number in every], [each + 2 for each in every]
                ),
            ]
        )


# -- coming in -----------------------------------------------------------------------------------


def ingest(calls: int) -> Ratio:
    """Microseconds a call: from a batch's bytes to the disk, and the bare inserting of its rows."""
    bodies = list(made(calls, session=0x0BE7C4))
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as name:
        folder = Path(name)
        ours = asyncio.run(_through_the_service(bodies, folder / "ours"))
        base = _insert_rows(folder / "ours" / _DATABASE, folder / "base")
    scale = 1e6 / calls
    name = "ingest of calls in batches"
    return Ratio(name, "µs", ours * scale, "executemany of the same rows", base * scale, 2)


async def _through_the_service(bodies: list[bytes], folder: Path) -> float:
    store = await open_store(folder)
    calls = CallService(store, Ledger(), EventStream(), Settings, folder)
    session = calls.sessions.open(Application(name="bench"))
    number = int(session.id.rpartition("_")[2], 16).to_bytes(4, "little")
    at = 12  # where a batch names its session
    sent = [body[:at] + number + body[at + 4 :] for body in bodies]
    began = time.perf_counter()
    for body in sent:
        await calls.wait_for_room()
        await calls.batches.record(body, 1 << 24)
    await store.call_log.last_number()  # which waits until all is written
    taken = time.perf_counter() - began
    calls.close()
    await store.aclose()
    return taken


def _insert_rows(source: Path, folder: Path) -> float:
    """The same rows into the same tables, and nothing else."""
    with contextlib.closing(sqlite3.connect(source)) as connection:
        calls = connection.execute(f"SELECT {_COLUMNS} FROM calls ORDER BY id").fetchall()
        uses = connection.execute("SELECT keys, users FROM coming_uses").fetchall()
    asyncio.run(_create_store(folder))
    marks = ", ".join("?" * len(calls[0]))
    connection = sqlite3.connect(folder / _DATABASE, isolation_level=None)
    with contextlib.closing(connection):
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
        began = time.perf_counter()
        for number, used in enumerate(uses):
            rows = calls[number * _BATCH : (number + 1) * _BATCH]
            connection.execute("BEGIN")
            connection.executemany(f"INSERT INTO calls ({_COLUMNS}) VALUES ({marks})", rows)
            connection.execute("INSERT INTO coming_uses (keys, users) VALUES (?, ?)", used)
            connection.execute("COMMIT")
        return time.perf_counter() - began


async def _create_store(folder: Path) -> None:
    store = await open_store(folder)
    await store.aclose()


# -- finding them --------------------------------------------------------------------------------


def last_hundred(few: int, many: int) -> Ratio:
    """The last hundred calls of a function, when there are few calls and when there are many."""
    server = Server("--pool-size", "0")
    with contextlib.closing(server), contextlib.closing(Http(server.url)) as asking:
        session = asking.ask("POST", "/api/call/session", {"name": "bench"})["session_id"]
        number = int(session.rpartition("_")[2], 16)
        _post(server, made(few, number))
        base = _asked(asking)
        _post(server, made(many - few, number, few))
        found = _asked(asking)
    name = f"the last 100 of a function among {many:,}"
    return Ratio(name, "ms", found, f"among {few:,}", base, 2)


def _post(server: Server, bodies: Iterator[bytes]) -> None:
    line = http.client.HTTPConnection(urlsplit(server.url).netloc)
    with contextlib.closing(line):
        for body in bodies:
            line.request(
                "POST", "/api/call/records", body, {"Content-Type": batch_format.MEDIA_TYPE}
            )
            answer = line.getresponse()
            said = answer.read()
            if answer.status != 200:
                raise RuntimeError(said)


def _asked(asking: Http) -> float:
    asking.ask("GET", "/api/functions")  # which waits until all is written
    taken = []
    for number in range(60):
        began = time.perf_counter()
        found = asking.ask("GET", f"/api/calls?function=function_{number % _FUNCTIONS}&limit=100")
        taken.append((time.perf_counter() - began) * 1000)
        assert len(found["calls"]) == 100
    return statistics.median(taken[10:])
