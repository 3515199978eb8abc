"""A server that comes back at another address is found there, unless the address was chosen."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from background import run_in_thread
from harness import Server
from holdfast import DebugServerError, configure_debug, debug_call, with_debug
from holdfast.client.switch import switch
from polling import wait_until


class Ledger:
    def __init__(self) -> None:
        self.rows: list[int] = []

    def add(self, row: int) -> int:
        self.rows.append(row)
        return len(self.rows)


@pytest.fixture
def servers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[list[Server]]:
    """The servers of one data directory, which is the one that applications look into."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "data"))
    monkeypatch.delenv("HOLDFAST_SERVER_URL", raising=False)
    started = [Server(tmp_path / "data")]
    yield started
    with_debug("OFF")
    for server in started:
        server.close()


def kill_and_start_again(servers: list[Server], *options: str) -> None:
    """At another port: a socket of ours has the old one."""
    old = servers[-1]
    old.process.kill()
    old.process.wait(60)
    servers.append(Server(old.data_dir, *options))
    assert servers[-1].url != old.url


@pytest.mark.parametrize("mode", ["strict", "leased"])
def test_calls_go_on_with_the_server_at_its_new_port(servers: list[Server], mode: str) -> None:
    configure_debug(mode=mode)
    info = with_debug("ON")
    proxy = with_debug(Ledger())
    assert proxy.add(1) == 1
    kill_and_start_again(servers)

    assert proxy.add(2) == 2
    assert info.server_url() == servers[-1].url
    with_debug("OFF")

    found = servers[-1].get("/api/calls?function=add")["calls"]
    assert [call["args"][0]["text"] for call in found] == ["2", "1"]
    assert {call["status"] for call in found} == {"success"}
    assert len({call["session_id"] for call in found}) == 1


def test_a_call_that_was_held_fails_and_the_next_one_goes_on(servers: list[Server]) -> None:
    with_debug("ON")
    ledger = Ledger()
    proxy = with_debug(ledger)
    point = servers[-1].post("/api/breakpoints", {"function": "add"})
    running = run_in_thread(lambda: proxy.add(1))
    wait_until(lambda: servers[-1].get("/api/holds")["holds"], "the call to be held")
    kill_and_start_again(servers)
    with pytest.raises(DebugServerError):
        running.result(60)
    assert ledger.rows == []
    servers[-1].delete(f"/api/breakpoints/{point['id']}")
    assert proxy.add(2) == 1


def test_a_chosen_address_stays(servers: list[Server]) -> None:
    first = servers[-1].url
    configure_debug(server_url=first)
    with_debug("ON")
    proxy = with_debug(Ledger())
    kill_and_start_again(servers)
    port = first.rpartition(":")[2]
    with pytest.raises(DebugServerError, match=f"`holdfast serve --port {port}` starts one"):
        proxy.add(1)
    assert switch.recorder is not None
    assert switch.recorder.connection.url == first


def test_the_error_names_the_command_that_starts_a_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, servers: list[Server]
) -> None:
    with_debug("ON")
    servers[-1].stop()
    folder = tmp_path / "data"
    with pytest.raises(DebugServerError) as failed:
        debug_call(len, [])
    assert failed.value.start_command == f"holdfast serve --data-dir {folder}"
    assert f"`{failed.value.start_command}` starts one" in str(failed.value)
