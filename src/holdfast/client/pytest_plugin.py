"""`pytest --holdfast` and `pytest --holdfast-stop`.

pytest loads this module in every run, so it imports nothing. Without the options no hook is
registered.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("holdfast")
    group.addoption(
        "--holdfast",
        action="store_true",
        help="every failing test leaves a capture, which `holdfast captures` shows",
    )
    group.addoption(
        "--holdfast-trace",
        choices=("on", "off"),
        default="on",
        help="with --holdfast: whether to record what a test's own code does (default: on)",
    )
    group.addoption(
        "--holdfast-stop",
        action="store_true",
        help="hold at every failure, for a person or an agent to look; implies --holdfast",
    )
    group.addoption(
        "--holdfast-stop-timeout",
        type=float,
        default=None,
        metavar="SECONDS",
        help="let a held failure go after so long; by default it is held until somebody does",
    )


def pytest_configure(config: pytest.Config) -> None:
    stops = config.getoption("holdfast_stop")
    if stops or config.getoption("holdfast"):
        from holdfast.client.captures.capture_plugin import CapturePlugin

        config.pluginmanager.register(CapturePlugin(config), "holdfast-captures")
    if stops:
        from holdfast.client.captures.failure_stop import FailureStop

        timeout = config.getoption("holdfast_stop_timeout")
        config.pluginmanager.register(FailureStop(timeout), "holdfast-stop")
