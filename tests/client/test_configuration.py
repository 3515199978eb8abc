"""How the application says where the server is, and how it wants to be debugged."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import holdfast
from application import Application
from holdfast import (
    DebugSerializationError,
    DebugServerError,
    configure_debug,
    with_debug,
)
from holdfast.client import discovery
from holdfast.client.switch import switch
from holdfast.trust.private_files import write_private_file
from scripted_server import ScriptedServer, accept_all


@pytest.fixture(autouse=True)
def _no_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("HOLDFAST_SERVER_URL", "CIDELDILL_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path))


@pytest.mark.parametrize("name", ["CIDELDILL_SERVER_URL", "HOLDFAST_SERVER_URL"])
def test_config_from_environment(
    scripted: Callable[..., ScriptedServer], monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    server = scripted(on=False)
    configure_debug(server_url=None)
    monkeypatch.setenv(name, server.url)
    assert with_debug("ON").server_url() == server.url


def test_our_name_comes_before_the_older_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOLDFAST_SERVER_URL", "http://localhost:1")
    monkeypatch.setenv("CIDELDILL_SERVER_URL", "http://localhost:2")
    assert discovery.server_url() == "http://localhost:1"


def test_config_from_code(app: Application) -> None:
    assert with_debug("ON").server_url() == app.server.url


def test_config_code_overrides_environment(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CIDELDILL_SERVER_URL", "http://localhost:1")
    with_debug("OFF")
    assert with_debug("ON").server_url() == app.server.url


def test_config_from_what_the_server_announced(
    scripted: Callable[..., ScriptedServer], tmp_path: Path
) -> None:
    server = scripted(on=False)
    configure_debug(server_url=None)
    announced = {"url": server.url, "pid": os.getpid()}
    write_private_file(tmp_path / "server.json", json.dumps(announced))
    assert with_debug("ON").server_url() == server.url


def test_config_default_url() -> None:
    assert discovery.server_url(switch.settings.server_url) == "http://localhost:5000"


@pytest.mark.parametrize("host", ["localhost", "127.0.0.1", "127.0.0.2", "[::1]"])
def test_config_custom_port(host: str) -> None:
    configure_debug(server_url=f"http://{host}:8123")
    assert switch.settings.server_url == f"http://{host}:8123"


REMOTE = [
    "http://example.com:5000",
    "http://10.0.0.1",
    "http://127.evil.com",
    "http://0.0.0.0:5000",
]


@pytest.mark.parametrize("url", REMOTE)
def test_config_localhost_only(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ValueError, match="on this machine"):
        configure_debug(server_url=url)
    assert switch.settings.server_url is None
    monkeypatch.setenv("HOLDFAST_SERVER_URL", url)
    with pytest.raises(ValueError, match="on this machine"):
        with_debug("ON")


@pytest.mark.parametrize(
    "options",
    [
        {"server_url": "ftp://localhost"},
        {"server_url": "http://localhost:port"},
        {"server_url": 5000},
        {"request_timeout": 0},
        {"request_timeout": -1},
        {"request_timeout": "soon"},
        {"request_timeout": True},
        {"request_timeout": float("inf")},
        {"eq": "sometimes"},
        {"on_unpicklable": "ignore"},
        {"mode": "lenient"},
        {"max_value_bytes": 0},
        {"max_value_bytes": 1.5},
        {"capture_locals": "yes"},
        {"no_such_option": 1},
    ],
    ids=str,
)
def test_a_bad_option_is_a_value_error(options: dict[str, Any]) -> None:
    before = switch.settings
    with pytest.raises(ValueError, match=next(iter(options))):
        configure_debug(**{"eq": "transparent", **options})
    assert switch.settings == before


def test_frames_may_show_their_variables(app: Application) -> None:
    app.restart(capture_locals=True)
    answer = 42
    with_debug(len)([answer])
    frame = app.read_call("len")["call_site"]["stack_trace"][0]
    assert frame["locals"]["answer"] == "42"


def test_a_placeholder_lets_the_call_go_on(app: Application) -> None:
    app.restart(on_unpicklable="placeholder")
    generator = (number for number in range(3))
    assert with_debug(list)(generator) == [0, 1, 2]
    assert app.read_call("list")["args"][0]["type"] == "generator"


class Shelf:
    def put(self, thing: Any) -> str:
        return type(thing).__name__


@pytest.mark.parametrize("mode", ["strict", "leased"])
def test_options_take_effect_at_once_for_proxies_that_exist(app: Application, mode: str) -> None:
    app.restart(mode=mode)
    put = with_debug(Shelf()).put
    plug = socket.socket()
    for _ in range(2):  # so that whatever is remembered of the place has been remembered
        put("x" * 300)
        with pytest.raises(DebugSerializationError):
            put(plug)
        configure_debug(on_unpicklable="placeholder", max_value_bytes=200, capture_locals=True)
        assert put(plug) == "socket"
        put("x" * 300)
        configure_debug(on_unpicklable="raise", max_value_bytes=1 << 20, capture_locals=False)
    plug.close()
    with_debug("OFF")
    calls = [app.server.get(f"/api/calls/{call['call_id']}") for call in app.list_calls("put")]
    assert [call["args"][0].get("marker") for call in calls] == [
        None,
        "unpicklable",
        "too_large",
    ] * 2
    assert ["locals" in call["call_site"]["stack_trace"][0] for call in calls] == [
        *(False, True, True) * 2
    ]


@pytest.mark.parametrize("mode", ["strict", "leased"])
def test_a_target_that_was_too_large_is_stored_when_the_limit_is_raised(
    app: Application, mode: str
) -> None:
    app.restart(mode=mode, max_value_bytes=200)
    text = with_debug("x" * 1000, name="text")
    text.upper()
    configure_debug(max_value_bytes=1 << 20)
    text.lower()
    configure_debug(max_value_bytes=200)
    text.title()
    with_debug("OFF")
    cids = [app.read_call(name)["target_cid"] for name in ("upper", "lower", "title")]
    targets = [app.server.get(f"/api/cid/{cid}/preview").get("marker") for cid in cids]
    assert targets == ["too_large", None, "too_large"]


def test_a_request_timeout_takes_effect_on_open_connections(
    scripted: Callable[..., ScriptedServer],
) -> None:
    never = threading.Event()
    scripted(accept_all(start=lambda body: never.wait(60) and None))
    wrapped = with_debug(len)
    configure_debug(request_timeout=0.05)
    try:
        with pytest.raises(DebugServerError, match=r"0\.05"):
            wrapped([1])
    finally:
        never.set()


@pytest.mark.parametrize(
    "options", [{"mode": "leased"}, {"server_url": "http://localhost:1"}, {"server_url": None}]
)
def test_what_cannot_change_while_on_raises_and_changes_nothing(
    app: Application, options: dict[str, Any]
) -> None:
    before = switch.settings
    with pytest.raises(ValueError, match=r'cannot change while .* with_debug\("OFF"\) first'):
        configure_debug(eq="transparent", **options)
    assert switch.settings == before
    configure_debug(mode="strict", server_url=app.server.url)  # as it is
    with_debug("OFF")
    configure_debug(**options)


def test_the_server_that_was_found_may_be_named_while_on(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_debug("OFF")
    configure_debug(server_url=None)
    monkeypatch.setenv("HOLDFAST_SERVER_URL", app.server.url)
    session = with_debug("ON").session_id()
    configure_debug(server_url=app.server.url)
    assert with_debug("ON").session_id() == session


def test_the_environment_says_what_becomes_of_values_that_cannot_be_stored(
    app: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_ON_UNPICKLABLE", "placeholder")
    app.restart()
    with socket.socket() as plug:
        assert with_debug(Shelf()).put(plug) == "socket"
        configure_debug(on_unpicklable="raise")  # what the application says comes first
        with pytest.raises(DebugSerializationError):
            with_debug(Shelf()).put(plug)
    with_debug("OFF")
    configure_debug(on_unpicklable=None)
    monkeypatch.setenv("HOLDFAST_ON_UNPICKLABLE", "ignore")
    with pytest.raises(ValueError, match=r"HOLDFAST_ON_UNPICKLABLE must be .* not 'ignore'"):
        with_debug("ON")


def test_everything_is_exported() -> None:
    for name in holdfast.__all__:
        assert getattr(holdfast, name) is not None
    assert set(holdfast.__all__) <= set(dir(holdfast))
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        _ = holdfast.nothing


IMPORTED = """
import sys
before = set(sys.modules)
from holdfast import with_debug, debug_call, configure_debug
with_debug("OFF")
assert debug_call(len, [1]) == 1
print(*sorted({name.partition(".")[0] for name in set(sys.modules) - before}))
"""


def test_using_it_costs_only_the_standard_library() -> None:
    """Not even dill, until a value needs it."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(path for path in sys.path if path)}
    ran = subprocess.run(
        [sys.executable, "-c", IMPORTED], env=env, capture_output=True, text=True, timeout=60
    )
    assert ran.returncode == 0, ran.stderr
    assert set(ran.stdout.split()) - sys.stdlib_module_names == {"holdfast"}
