"""gevent: programs that replace threads, locks and sockets with its own are debugged like any."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from harness import Program, Server, Session
from interpreters import choose_other_interpreters
from polling import wait_until

WORKERS = Program("gevent_workers.py")
PRINTED = "[0, 2, 4] b'sent'\n"


def find_newest_python(folder: str) -> dict[str, Any]:
    """How to launch with the newest other Python, for which gevent is installed in a folder."""
    others = [each.path for each in choose_other_interpreters() if each.version <= (3, 13)]
    if not others:
        pytest.skip("there is no other Python here")
    install = [others[-1], "-m", "pip", "install", "-q", "--only-binary=:all:", "--target", folder]
    done = subprocess.run([*install, "gevent>=24.10"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        pytest.skip(f"gevent cannot be installed for {others[-1]}: {done.stderr[-300:]}")
    return {"python": others[-1], "pythonpath": [folder]}


def check_stops(session: Session, **options: Any) -> None:
    """Stop in every greenlet, step in it, look into it, and see the program end as it should."""
    session.break_at(WORKERS, "work")
    stop = session.launch(WORKERS, **options)
    for number in ("0", "1", "2", "9"):
        assert (stop["status"], stop["reason"]) == ("paused", "breakpoint"), stop
        assert stop["location"]["line"] == WORKERS.line("work")
        assert session.evaluate("number") == number
        assert [each["name"] for each in session.get("/threads")["threads"]] == ["MainThread"]
        step = session.post("/step-over", {"wait": 60})
        assert (step["reason"], step["location"]["line"]) == ("step", WORKERS.line("after"))
        assert session.evaluate("doubled") == str(2 * int(number))
        stop = session.resume()
    assert (stop["status"], stop["exit_code"]) == ("terminated", 0)
    assert (session.output(), session.output("stderr")) == (PRINTED, "")


def check_pause(session: Session, **options: Any) -> None:
    """Pause while all greenlets wait, and stop at a breakpoint that is set while they do."""
    session.delete("/breakpoints")
    session.launch(WORKERS, args=["forever"], wait=0, **options)
    session.get(f"/output?since={session.get('')['output_cursor']}&wait=60")
    assert session.post("/pause", {"wait": 60})["status"] == "paused"
    session.resume(wait=0)
    session.break_at(WORKERS, "tick")  # in a function that is running, in a greenlet that waits
    stop = session.get("/status?wait=60")
    assert (stop["reason"], stop["location"]["line"]) == ("breakpoint", WORKERS.line("tick"))
    assert int(session.evaluate("count")) > 0


def wait_for_warm_interpreter(server: Server) -> None:
    """Have this Python launched once. From then on the pool has one of it ready."""
    with server.session() as session:
        session.post("/launch", {"code": "pass", "wait": 60})
    wait_until(
        lambda: server.get("/info")["warm_interpreters"].get(sys.executable), "a warm interpreter"
    )


@pytest.mark.slow
def test_greenlets_stop_are_stepped_and_looked_into(session: Session) -> None:
    wait_for_warm_interpreter(session.server)
    check_stops(session)
    seen = [event["event"] for event in session.get("/events?limit=1000")["events"]]
    assert seen.count("launching") == seen.count("started") == 1


@pytest.mark.slow
def test_a_program_of_greenlets_is_paused_and_takes_new_breakpoints(session: Session) -> None:
    check_pause(session)


@pytest.mark.slow
def test_the_newest_python_is_debugged_with_gevent_too(session: Session, tmp_path: Path) -> None:
    options = find_newest_python(str(tmp_path))
    check_stops(session, **options)
    check_pause(session, **options)


@pytest.mark.parametrize("kind", ["imported", "package", "argument", "mentioned"])
def test_gevent_is_found_where_a_program_uses_it_and_not_where_it_is_mentioned(
    session: Session, tmp_path: Path, kind: str
) -> None:
    """Whether it was found is seen by gevent being there before the program imports it."""
    package = tmp_path / "package"
    package.mkdir()
    main = "import sys\nprint('gevent' in sys.modules)\n"
    args = []
    if kind == "imported":
        (tmp_path / "helper.py").write_text("def later():\n    from gevent import monkey\n")
        main += "import helper\n"
    elif kind == "package":
        (package / "__init__.py").write_text("from . import inner\n")
        (package / "inner.py").write_text("import gevent\n")
        main += "from package import inner\n"
    elif kind == "argument":
        args = ["--worker-class=gevent"]
    else:
        main += "# import gevent\nprint('import gevent')\n"
    (tmp_path / "main.py").write_text(main)

    end = session.launch(str(tmp_path / "main.py"), args=args)

    assert end["exit_code"] == 0, session.output("stderr")
    assert session.output().startswith(f"{kind != 'mentioned'}\n")
