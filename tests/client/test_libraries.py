"""The same small application, run plain and wrapped: nothing that can be observed differs.

The applications are in `tests/programs/libraries`, one for each library.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from application import Application
from harness import PROGRAMS, Server
from holdfast import with_debug
from observations import Observation, observe

sys.path.insert(0, str(PROGRAMS))
libraries: Any = pytest.importorskip("libraries")
sys.path.remove(str(PROGRAMS))

APPLICATIONS: dict[str, Any] = libraries.APPLICATIONS
LIMITS = (Path(__file__).parents[2] / "docs" / "calls-limits.md").read_text(encoding="utf-8")

pytestmark = pytest.mark.skipif(
    sys.version_info < (3, 11), reason="0017-frames-in-between.md says what Python 3.10 cannot hide"
)


@pytest.fixture(scope="module")
def plain_runs() -> dict[str, Observation]:
    return {}


@pytest.fixture
def debugged(server: Server) -> Iterator[Application]:
    application = Application(server)
    yield application
    application.stop()


@pytest.mark.parametrize("mode", ["strict", "leased"])
@pytest.mark.parametrize("library", APPLICATIONS)
def test_an_application_runs_the_same_plain_and_wrapped(
    debugged: Application, plain_runs: dict[str, Observation], library: str, mode: str
) -> None:
    application = APPLICATIONS[library]
    if library not in plain_runs:
        observe(application.work, lambda target: target)  # what a library does once is done now
        plain_runs[library] = observe(application.work, lambda target: target)
    plain = plain_runs[library]
    assert plain.error is None, plain.error["shown"]
    debugged.start(mode=mode, on_unpicklable=application.on_unpicklable)
    seen = observe(application.work, lambda target: with_debug(target, **application.options))
    if application.limit is None:
        assert seen.result == plain.result
        assert seen == plain
    else:
        assert seen != plain, "it works: docs/calls-limits.md need not name it any more"
        assert f"**{application.limit}.**" in LIMITS
    with_debug("OFF")
    path = f"/api/calls?session={debugged.session_id}&limit=1"
    assert debugged.server.get(path)["calls"], "nothing was recorded"


def test_there_are_enough_libraries() -> None:
    assert len({name.partition(".")[0].partition(" ")[0] for name in APPLICATIONS}) >= 30
