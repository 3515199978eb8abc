"""Calls in the store: how fast it takes them, and how fast it finds the latest of a function."""

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

from bench.http_client import HttpClient
from bench.measurements import Ratio
from bench.server import Server
from holdfast.core.ledger import Ledger
from holdfast.model.call import Application
from holdfast.service.calls.call_service import CallService
from holdfast.service.event_stream import EventStream
from holdfast.service.settings import Settings
from holdfast.service.warning_list import WarningList
from holdfast.store import open_store
from holdfast.wire import batch_format

_BATCH = 1000
_FUNCTIONS = 50
_TARGET = pickle.dumps("target", 5)
_DATABASE = "holdfast.db"
_COLUMNS = "id, session, function_id, call_type, status, parent, stack, duration_ns, cids, document"


def build_batches(calls: int, session: int, first: int = 0) -> Iterator[bytes]:
    """Build batches of calls of fifty functions, as a leased application sends them."""
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
    site_table = b"".join(
        batch_format.encode_site(number, text) for number, text in enumerate(sites)
    )
    target = batch_format.encode_target(len(_TARGET), _TARGET)
    start_ns = time.time_ns() // 1000 * 1000
    for offset in range(first, first + calls, _BATCH):
        count = min(_BATCH, first + calls - offset)
        numbers = range(offset, offset + count)
        yield b"".join(
            [
                batch_format.encode_head(session, offset + 1, _FUNCTIONS, 0, 0, 1, count),
                site_table,
                target,
                batch_format.encode_column("q", [start_ns + number * 9000 for number in numbers]),
                batch_format.encode_column("q", [500] * count),
                batch_format.encode_column("q", [0] * count),
                batch_format.encode_column("I", [number % _FUNCTIONS for number in numbers]),
                batch_format.encode_column("I", [0] * count),
                batch_format.encode_column("I", [2] * count),
                batch_format.encode_values(
                    [(number, 2) for number in numbers], [number + 2 for number in numbers]
                ),
            ]
        )


# -- ingest --------------------------------------------------------------------------------------


def measure_ingest(calls: int) -> Ratio:
    """Compare the ingest of batches, from bytes to disk, with a bare insert of the same rows."""
    bodies = list(build_batches(calls, session=0x0BE7C4))
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        ours = asyncio.run(_ingest_by_service(bodies, Path(folder, "ours")))
        base = _insert_rows(Path(folder, "ours", _DATABASE), Path(folder, "base"))
    scale = 1e6 / calls
    name = "ingest of calls in batches"
    return Ratio(name, "µs", ours * scale, "executemany of the same rows", base * scale, 2)


async def _ingest_by_service(bodies: list[bytes], folder: Path) -> float:
    store = await open_store(folder)
    calls = CallService(store, Ledger(), EventStream(), Settings, folder, WarningList())
    session = calls.sessions.open(Application(name="bench"))
    number = int(session.id.rpartition("_")[2], 16).to_bytes(8, "little")
    offset = 12  # of the session in a batch
    batches = [body[:offset] + number + body[offset + 8 :] for body in bodies]
    start = time.perf_counter()
    for body in batches:
        await calls.wait_for_room()
        await calls.batches.record(body, 1 << 24)
    await store.call_log.last_number()  # which waits until all is written
    taken = time.perf_counter() - start
    calls.close()
    await store.aclose()
    return taken


def _insert_rows(source: Path, folder: Path) -> float:
    """Insert the same rows into the same tables, and nothing else."""
    with contextlib.closing(sqlite3.connect(source)) as connection:
        calls = connection.execute(f"SELECT {_COLUMNS} FROM calls ORDER BY id").fetchall()
        uses = connection.execute("SELECT keys, users FROM coming_uses").fetchall()
    asyncio.run(_create_store(folder))
    marks = ", ".join("?" * len(calls[0]))
    connection = sqlite3.connect(folder / _DATABASE, isolation_level=None)
    with contextlib.closing(connection):
        connection.execute("PRAGMA journal_mode = WAL").fetchall()
        connection.execute("PRAGMA synchronous = NORMAL")
        start = time.perf_counter()
        for number, used in enumerate(uses):
            rows = calls[number * _BATCH : (number + 1) * _BATCH]
            connection.execute("BEGIN")
            connection.executemany(f"INSERT INTO calls ({_COLUMNS}) VALUES ({marks})", rows)
            connection.execute("INSERT INTO coming_uses (keys, users) VALUES (?, ?)", used)
            connection.execute("COMMIT")
        return time.perf_counter() - start


async def _create_store(folder: Path) -> None:
    store = await open_store(folder)
    await store.aclose()


# -- queries -------------------------------------------------------------------------------------


def measure_last_hundred(server: Server, few: int, many: int) -> Ratio:
    """Query the last hundred calls of a function, with few calls in the store and with many."""
    with contextlib.closing(HttpClient(server.url)) as client:
        session = client.request("POST", "/api/call/session", {"name": "bench"})["session_id"]
        number = int(session.rpartition("_")[2], 16)
        _post(server, build_batches(few, number))
        base = _time_query(client)
        _post(server, build_batches(many - few, number, few))
        ours = _time_query(client)
    name = f"the last 100 of a function among {many:,}"
    return Ratio(name, "ms", ours, f"among {few:,}", base, 2)


def _post(server: Server, bodies: Iterator[bytes]) -> None:
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc)
    with contextlib.closing(connection):
        for body in bodies:
            connection.request(
                "POST", "/api/call/records", body, {"Content-Type": batch_format.MEDIA_TYPE}
            )
            answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise RuntimeError(text)


def _time_query(client: HttpClient) -> float:
    client.request("GET", "/api/functions")  # waits until the store has written everything
    taken = []
    for number in range(60):
        start = time.perf_counter()
        path = f"/api/calls?function=function_{number % _FUNCTIONS}&limit=100"
        answer = client.request("GET", path)
        taken.append((time.perf_counter() - start) * 1000)
        assert len(answer["calls"]) == 100
    return statistics.median(taken[10:])
