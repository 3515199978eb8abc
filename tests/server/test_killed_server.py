"""What the server has acknowledged survives `kill -9`, exactly once and with its values.

`HOLDFAST_KILLS` sets how often each server is killed (`make soak`).
"""

from __future__ import annotations

import os
import pickle
import random
import subprocess
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from harness import PROGRAMS, Server
from http_application import HttpApplication, compute_cid, encode_value

KILLS = int(os.environ.get("HOLDFAST_KILLS", "2"))

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60 * (KILLS + 2))]


class KilledServer:
    """A server that is killed and started again, at the same address, with the same data."""

    def __init__(self, data_dir: Path) -> None:
        self._data_dir = data_dir
        self.server = Server(data_dir)

    def kill(self) -> None:
        self.server.process.kill()
        self.server.process.wait(60)

    def start_again(self) -> None:
        self.server.close()
        self.server = self.server.start_again()
        assert "CALLS_JOURNAL_DAMAGED" not in str(self.server.get("/health"))


def list_calls(server: Server, function: str) -> Iterator[Any]:
    """One after the other: there may be tens of thousands."""
    page: Any = {"next": ""}
    while page["next"] is not None:
        before = f"&before={page['next']}" if page["next"] else ""
        page = server.get(f"/api/calls?function={function}&limit=500{before}")
        yield from page["calls"]


def read_value(server: Server, cid: str) -> Any:
    answer = server.http.get(f"/api/cid/{cid}")
    assert answer.status_code == 200, answer.text
    return pickle.loads(answer.content)


def test_leased_calls_are_recorded_once_however_often_the_server_is_killed(
    tmp_path: Path,
) -> None:
    killed, chance = KilledServer(tmp_path / "data"), random.Random()
    command = [sys.executable, str(PROGRAMS / "keeps_calling.py"), killed.server.url]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as client:
        assert client.stdin is not None
        assert client.stdout is not None
        try:
            confirmed = 0
            for _ in range(KILLS):
                for _ in range(chance.randint(1, 40)):
                    confirmed = int(client.stdout.readline())
                killed.kill()
                killed.start_again()
                numbers = Counter(
                    int(call["args"][0]["text"]) for call in list_calls(killed.server, "put")
                )
                assert set(range(confirmed)) <= numbers.keys()
                assert set(numbers.values()) == {1}
            client.stdin.close()
            *_, last = client.stdout.read().splitlines()
            assert client.wait(60) == 0
        except BaseException:
            client.kill()
            raise

    made = int(last.removeprefix("made "))
    numbers, about, some = Counter[int](), set[tuple[str, str]](), list[Any]()
    for call in list_calls(killed.server, "put"):
        number = int(call["args"][0]["text"])
        numbers[number] += 1
        about.add((call["session_id"], call["status"]))
        if number % max(1, made // 50) == 0:
            some.append(call)
    assert numbers == Counter(range(made))
    [(_, status)] = about
    assert status == "success"
    [function] = killed.server.get("/api/functions")["functions"]
    assert function["calls"] == made
    [session] = [each for each in killed.server.get("/sessions")["sessions"] if each.get("calls")]
    assert session["calls"] == made
    for call in some:
        number, text = (read_value(killed.server, value["cid"]) for value in call["args"])
        assert read_value(killed.server, call["result_cid"]) == f"{number}: {text}"
    killed.server.stop()


def test_strict_calls_and_their_completions_survive(tmp_path: Path) -> None:
    killed, chance = KilledServer(tmp_path / "data"), random.Random()
    for turn in range(KILLS):
        started: list[tuple[str, int]] = []
        completed: list[tuple[str, int]] = []
        app = HttpApplication(killed.server, name="shop")
        enough = threading.Event()
        limit = chance.randint(1, 120)

        def call_on(
            first: int,
            app: HttpApplication = app,
            started: list[tuple[str, int]] = started,
            completed: list[tuple[str, int]] = completed,
            limit: int = limit,
            enough: threading.Event = enough,
        ) -> None:
            for number in range(first, first + 1_000_000):
                try:
                    call = app.start("price", number, "x" * 500 + str(number))
                    started.append((call["call_id"], number))
                    app.complete(call, {"price": number})
                except Exception:  # the server is gone
                    return
                completed.append((call["call_id"], number))
                if len(completed) >= limit:
                    enough.set()

        threads = [
            threading.Thread(target=call_on, args=((3 * turn + part) * 1_000_000,))
            for part in range(3)
        ]
        for thread in threads:
            thread.start()
        assert enough.wait(60)
        killed.kill()
        for thread in threads:
            thread.join(60)
        killed.start_again()

        server = killed.server
        every = Counter(call["call_id"] for call in list_calls(server, "price"))
        assert set(every.values()) == {1}
        assert {call_id for call_id, _ in started} <= every.keys()
        for call_id, number in started:
            found = server.get(f"/api/calls/{call_id}")
            assert [value["cid"] for value in found["args"]] == [
                compute_cid(number),
                compute_cid("x" * 500 + str(number)),
            ]
            assert found["session_id"] == app.session_id
        for call_id, number in completed:
            found = server.get(f"/api/calls/{call_id}")
            assert (found["status"], found["result_cid"]) == (
                "success",
                compute_cid({"price": number}),
            )
        call_id, number = started[-1]
        found = server.get(f"/api/calls/{call_id}")
        assert read_value(server, found["args"][1]["cid"]) == "x" * 500 + str(number)
    killed.server.stop()


def test_a_decision_and_a_registered_function_survive(tmp_path: Path) -> None:
    killed = KilledServer(tmp_path / "data")
    killed.server.post("/api/breakpoints", {"function": "price"})
    app = HttpApplication(killed.server, name="shop")
    app.server.post(
        "/api/call/register",
        {"name": "discount", "signature": "(a)", "session_id": app.session_id},
    )
    call = app.start("price", 1)
    answer = {"action": "skip", "fake_result": encode_value(7), "by": "ann"}
    killed.server.post(f"/api/holds/{call['hold_id']}/decision", answer)
    killed.kill()
    killed.start_again()
    found = killed.server.get(f"/api/calls/{call['call_id']}")
    decision = found["decision"]
    assert (decision["action"], decision["by"]) == ("skip", "ann")
    assert read_value(killed.server, decision["fake_result_cid"]) == 7
    path = f"/api/functions?session={app.session_id}"
    names = {each["name"] for each in killed.server.get(path)["functions"]}
    assert names == {"price", "discount"}
    killed.server.stop()
