"""Stored bytes are verified when they are used, and healed when they are sent again."""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from application import Application
from harness import Server
from holdfast import with_debug
from http_application import HttpApplication, compute_cid, encode_value

TEXT = "a value of some length, " * 20


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    server = Server(tmp_path_factory.mktemp("damaged") / "data")
    yield server
    server.stop()


def damage(server: Server, cid: str) -> None:
    """Change a byte of the value in the database. What is queued is committed first."""
    assert server.get("/api/calls")["calls"]
    with contextlib.closing(sqlite3.connect(server.data_dir / "holdfast.db")) as database, database:
        key = bytes.fromhex(cid)
        [(data,)] = database.execute("SELECT data FROM contents WHERE cid = ?", (key,)).fetchall()
        changed = data[:-9] + bytes([data[-9] ^ 1]) + data[-8:]
        database.execute("UPDATE contents SET data = ? WHERE cid = ?", (changed, key))


def read(server: Server, cid: str) -> tuple[int, Any]:
    answer = server.http.get(f"/api/cid/{cid}")
    return answer.status_code, answer


def test_damaged_bytes_are_an_error_and_heal_when_they_are_sent_again(own: Server) -> None:
    app, cid = HttpApplication(own, name="shop"), compute_cid(TEXT)
    call = app.start("price", TEXT)
    damage(own, cid)

    status, answer = read(own, cid)
    assert status == 507
    assert answer.json()["error"]["code"] == "CONTENT_DAMAGED"
    assert answer.json()["error"]["details"]["cid"] == cid
    found = own.get(f"/api/calls/{call['call_id']}")
    assert found["args"][0]["cid"] == cid

    refused = own.post(
        "/api/call/start",
        {"method_name": "price", "args": [{"cid": cid}], "session_id": app.session_id},
        expect=404,
    )
    assert (refused["error"], refused["missing_cids"]) == ("cid_not_found", [cid])
    app.start("price", TEXT)
    status, answer = read(own, cid)
    assert (status, answer.content.hex()) == (200, _bytes_of(TEXT).hex())


def _bytes_of(value: Any) -> bytes:
    import base64

    return base64.b64decode(encode_value(value)["data"])


def test_a_decision_with_damaged_bytes_is_refused_and_leaves_the_hold_open(own: Server) -> None:
    app, other = HttpApplication(own, name="shop"), TEXT + "for a decision"
    app.start("other", other)
    damage(own, compute_cid(other))
    point = own.post("/api/breakpoints", {"function": "held"})
    call = app.start("held", 1)
    own.delete(f"/api/breakpoints/{point['id']}")
    path = f"/api/holds/{call['hold_id']}/decision"
    body = {"action": "skip", "fake_result": {"cid": compute_cid(other)}}
    refused = own.post(path, body, expect=507)
    assert refused["error"]["code"] == "CONTENT_DAMAGED"
    assert call["hold_id"] in str(own.get("/api/holds"))
    own.post(path, {"action": "skip", "fake_result": encode_value(other)})
    assert read(own, compute_cid(other))[0] == 200


def test_an_application_that_has_sent_a_value_sends_it_again(own: Server) -> None:
    class Shelf:
        def put(self, text: str) -> int:
            return len(text)

    app = Application(own).start()
    try:
        shelf, text = with_debug(Shelf()), TEXT + "from an application"
        shelf.put(text)
        cid = app.read_call("put")["args"][0]["cid"]
        damage(own, cid)
        assert read(own, cid)[0] == 507
        assert shelf.put(text) == len(text)
        assert read(own, cid)[0] == 200
        assert [call["status"] for call in app.list_calls("put")] == ["success", "success"]
    finally:
        app.stop()


def test_a_value_damaged_while_no_server_ran_is_asked_for_again(tmp_path: Path) -> None:
    first = Server(tmp_path / "data")
    HttpApplication(first, name="shop").start("price", TEXT)
    damage(first, compute_cid(TEXT))
    first.stop()
    second = Server(tmp_path / "data")
    try:
        refused = second.post(
            "/api/call/start",
            {"method_name": "price", "args": [{"cid": compute_cid(TEXT)}]},
            expect=404,
        )
        assert refused["missing_cids"] == [compute_cid(TEXT)]
        HttpApplication(second, name="shop").start("price", TEXT)
        assert read(second, compute_cid(TEXT))[0] == 200
    finally:
        second.stop()
