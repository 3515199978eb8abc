"""Attaching to programs that run already: by pid, and to a debugpy that listens."""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from child_processes import CHILD_STARTER, PATIENCE, is_gone, run_undebugged, wait_for_children
from harness import Program, Server, Session, reserved_port
from holdfast.targets.program.launcher import DEBUGPY, PROBE
from own_environment import IS_SOAK
from polling import wait_until

ATTACH_TARGET = Program("attach_target.py")
LOOP = Program("loop.py")
MANY_THREADS = Program("many_threads.py")
THREADS = 100 if IS_SOAK else 20
"""gdb waits for each of them to be scheduled, several times: seconds on a busy machine."""
Started = Callable[..., "Running"]


class Running:
    """A program that nobody debugs yet."""

    def __init__(self, folder: Path, argv: list[str]) -> None:
        self._answer = folder / "answer"
        if argv[-1] in (ATTACH_TARGET.path, MANY_THREADS.path):
            argv = [*argv, str(self._answer)]
        self.process = subprocess.Popen(
            argv, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        self.pid = self.process.pid

    def ready(self) -> Running:
        assert self.process.stdout is not None
        assert self.process.stdout.readline() == "ready\n"
        return self

    def observed(self) -> list[str]:
        """What it answers; of a debugger: is it traced, is it monitored."""
        self._answer.unlink(missing_ok=True)
        ask = self._answer.with_suffix(".ask")
        ask.touch()
        wait_until(self._answer.exists, "its answer")
        return self._answer.read_text().split()

    def is_free(self) -> bool:
        """It runs on, and nothing of a debugger is left in it."""
        assert self.process.poll() is None
        assert self.observed() == ["False", "False"]
        return True

    def end(self) -> str:
        self.process.kill()
        return self.process.communicate()[1]


@pytest.fixture
def running(tmp_path: Path) -> Iterator[Started]:
    with contextlib.ExitStack() as ends:

        def start(*argv: str) -> Running:
            started = Running(tmp_path, list(argv))
            ends.callback(started.end)
            return started

        yield start


def attach(session: Session, **body: Any) -> Any:
    return session.post("/attach", {"wait": PATIENCE, **body})


# -- by pid ---------------------------------------------------------------------------------------


@pytest.mark.slow
def test_a_process_is_attached_to_looked_into_and_let_go(
    session: Session, running: Started, python: str
) -> None:
    program = running(python, ATTACH_TARGET.path).ready()
    [point] = session.break_at(ATTACH_TARGET, "turn", condition="state['rounds'] > 3")

    stop = attach(session, pid=program.pid)

    assert (stop["status"], stop["reason"], stop["breakpoint_id"]) == (
        "paused",
        "breakpoint",
        point,
    )
    assert stop["location"]["line"] == ATTACH_TARGET.line("turn")
    assert int(session.evaluate("state['rounds']")) > 3
    step = session.post("/step-over", {"wait": PATIENCE})
    assert step["location"]["line"] == ATTACH_TARGET.line("back")
    assert session.resume()["reason"] == "breakpoint"
    shown = session.get("")
    assert (shown["route"], shown["pid"], shown["attach"]["pid"]) == (
        "pid",
        program.pid,
        program.pid,
    )

    assert session.post("/detach")["reason"] == "detached"

    assert program.is_free()
    again = attach(session, pid=program.pid)
    assert (again["status"], again["reason"]) == ("paused", "breakpoint")
    session.delete()
    assert program.is_free()
    assert program.end() == ""


@pytest.mark.slow
def test_what_an_attached_process_prints_is_captured_and_still_goes_where_it_went(
    session: Session, running: Started, python: str
) -> None:
    program = running(python, ATTACH_TARGET.path).ready()
    session.break_at(ATTACH_TARGET, "turn")
    attach(session, pid=program.pid)
    was = session.evaluate("(type(sys.stdout).__name__, sys.stdout is sys.__stdout__)")

    session.evaluate("print('printed', flush=True)")
    session.evaluate("sys.stderr.writelines(['one ', 'two'])")
    session.evaluate("print('x' * 50_000, flush=True)")

    assert was == "('TextIOWrapper', True)"
    assert session.output("stdout") == "printed\n" + "x" * 50_000 + "\n"
    assert session.output("stderr") == "one two"
    session.evaluate("STATE.update(running=False)")
    session.post("/detach")
    said, errors = program.process.communicate(timeout=PATIENCE)
    assert said == "printed\n" + "x" * 50_000 + "\nended True\n"
    assert errors == "one two"
    assert "ended" not in session.output("stdout")


PRINTING_HANDLER = """
import os, signal, sys, time

sys.stderr = open(os.devnull, "w")  # which is never full
count = 0
has_begun = []

def interrupt(number, frame):
    global count
    count += 1
    sys.stdout.write("signal\\n")
    signal.setitimer(signal.ITIMER_REAL, 0.0005 if count < 500 else 0)

signal.signal(signal.SIGALRM, interrupt)
signal.signal(signal.SIGUSR1, lambda number, frame: has_begun.append(number))
print("ready", flush=True)
while not has_begun:
    time.sleep(0.01)
signal.setitimer(signal.ITIMER_REAL, 0.0005)
while count < 500:
    sys.stderr.write(".")
"""


@pytest.mark.slow
def test_a_signal_handler_may_print_whatever_it_interrupts(
    session: Session, running: Started, python: str
) -> None:
    """Also a `print` that is just being captured: there must be no lock that it waits for."""
    program = running(python, "-c", PRINTING_HANDLER).ready()

    attach(session, pid=program.pid, wait=0)

    os.kill(program.pid, signal.SIGUSR1)

    assert session.get(f"/status?wait={PATIENCE}")["status"] == "terminated"
    said, _ = program.process.communicate(timeout=PATIENCE)
    assert (program.process.returncode, said) == (0, "signal\n" * 500)


@pytest.mark.slow
def test_many_threads_run_on_however_often_they_are_attached_to(
    server: Server, running: Started, python: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MANY_THREADS", str(THREADS))
    program = running(python, MANY_THREADS.path).ready()

    for _round in range(2):
        with server.session() as session:
            session.break_at(MANY_THREADS, "tick")
            stops = [attach(session, pid=program.pid)]
            stops += [session.resume() for _time in range(4)]
            session.post("/detach")
        assert {(stop["status"], stop["reason"]) for stop in stops} == {("paused", "breakpoint")}
        assert {stop["location"]["line"] for stop in stops} == {MANY_THREADS.line("tick")}
        before = [int(count) for count in program.observed()]
        wait_until(
            lambda before=before: all(map(int.__lt__, before, map(int, program.observed()))),  # type: ignore[misc]
            "every thread to count on",
        )

    assert program.end() == ""


@pytest.mark.slow
@pytest.mark.skipif(hasattr(sys, "remote_exec"), reason="this Python attaches without gdb")
def test_a_process_that_gdb_holds_for_too_long_is_let_go(tmp_path: Path, running: Started) -> None:
    slow = tmp_path / "bin" / "gdb"
    slow.parent.mkdir()
    slow.write_text(
        f'#!/bin/sh\nexec {shutil.which("gdb")} --eval-command="shell sleep 600" "$@"\n'
    )
    slow.chmod(0o755)
    path = f"{slow.parent}{os.pathsep}{os.environ['PATH']}"
    server = Server(tmp_path / "data", env={**os.environ, "PATH": path})
    program = running(sys.executable, ATTACH_TARGET.path).ready()
    try:
        with server.settings(attach_timeout=1), server.session() as session:
            answer = session.post("/attach", {"pid": program.pid}, expect=504)
    finally:
        server.stop()
    assert "did not run our code within 1 s" in answer["error"]["message"]
    assert program.is_free()


# Makes the debugger end only when the next one waits for that.
LATE_END = """
import pydevd, sys, time

def list_functions(frame):
    return [frame.f_code.co_name, *list_functions(frame.f_back)] if frame else []

def wait(self, seconds):
    while not any(
        "_end_detached_debugger" in list_functions(frame)
        for frame in sys._current_frames().values()
    ):
        time.sleep(0.005)

pydevd.PyDB._PyDB__wait_for_threads_to_finish = wait
"""


@pytest.mark.slow
def test_a_process_is_attached_to_again_while_the_last_debugger_still_ends(
    session: Session, running: Started
) -> None:
    program = running(sys.executable, ATTACH_TARGET.path).ready()
    session.break_at(ATTACH_TARGET, "turn")
    attach(session, pid=program.pid)
    session.evaluate(f"exec({LATE_END!r}, {{}})")
    session.post("/detach")

    again = attach(session, pid=program.pid)

    assert (again["status"], again["reason"]) == ("paused", "breakpoint")


def test_a_session_is_created_attached_and_a_process_has_one_debugger(
    server: Server, running: Started
) -> None:
    program = running(sys.executable, ATTACH_TARGET.path).ready()

    made = server.post("/sessions", {"mode": "attach", "pid": program.pid})

    assert (made["status"], made["pid"]) == ("running", program.pid)
    session = Session(server, made["session_id"])
    with server.session() as second:
        answer = second.post("/attach", {"pid": program.pid}, expect=409)
        assert session.id in answer["error"]["message"]
    stop = session.post("/pause", {"wait": PATIENCE})
    assert (stop["status"], stop["reason"]) == ("paused", "pause")
    session.delete()
    assert program.is_free()


def test_one_request_attaches_and_waits_for_a_breakpoint(server: Server, running: Started) -> None:
    program = running(sys.executable, ATTACH_TARGET.path).ready()
    point = {"file": ATTACH_TARGET.path, "line": ATTACH_TARGET.line("turn")}
    body = {"mode": "attach", "pid": program.pid, "breakpoints": [point], "wait": PATIENCE}
    with server.session(**body) as session:
        stop = session.created
        assert (stop["status"], stop["location"]["line"]) == ("paused", point["line"])
        assert [each["name"] for each in stop["locals"]] == ["state"]
        assert stop["breakpoints_set"][0]["verified"] is True
        session.post("/detach")
        back = {**point, "line": ATTACH_TARGET.line("back")}
        again = attach(session, pid=program.pid, breakpoints=back, include=["stack"])
        assert again["stack"][0]["name"] == "turn"
        assert [each["line"] for each in again["breakpoints_set"]] == [back["line"]]
        session.post("/detach")
    assert program.is_free()


def test_the_end_of_an_attached_process_is_seen(session: Session, running: Started) -> None:
    program = running(sys.executable, ATTACH_TARGET.path).ready()
    attach(session, pid=program.pid, wait=0)

    program.process.kill()

    end = session.get(f"/status?wait={PATIENCE}")
    assert (end["status"], end["exit_code"]) == ("terminated", None)


def test_an_attached_process_ends_when_that_is_asked_for(
    session: Session, running: Started
) -> None:
    program = running(sys.executable, ATTACH_TARGET.path).ready()
    attach(session, pid=program.pid, wait=0)

    assert session.post("/terminate")["reason"] == "terminated"

    assert is_gone(program.pid)


def test_what_was_launched_before_an_attach_is_not_restarted_after_it(
    session: Session, running: Started
) -> None:
    assert session.launch(LOOP)["exit_code"] == 0
    program = running(sys.executable, ATTACH_TARGET.path).ready()
    attach(session, pid=program.pid, wait=0)
    shown = session.get("")
    assert (shown["launch"], shown["attach"]["pid"]) == (None, program.pid)

    session.post("/restart", expect=409)

    session.post("/detach")
    assert session.launch(LOOP)["exit_code"] == 0
    assert session.get("")["attach"] is None
    assert session.post("/restart", {"wait": 60})["exit_code"] == 0


def test_a_process_outlives_the_server_that_was_attached_to_it(
    tmp_path: Path, running: Started
) -> None:
    program = running(sys.executable, ATTACH_TARGET.path).ready()
    server = Server(tmp_path / "data")
    try:
        with server.session() as session:
            session.break_at(ATTACH_TARGET, "turn")
            assert attach(session, pid=program.pid)["status"] == "paused"
            server.process.kill()
            server.process.wait()
    finally:
        server.close()

    # It hears of it when its connection breaks.
    wait_until(lambda: program.observed() == ["False", "False"], "the program to be free")
    assert program.is_free()


def test_children_of_an_attached_process_are_followed_when_asked(
    session: Session, running: Started
) -> None:
    program = running(sys.executable, ATTACH_TARGET.path).ready()
    session.break_at(CHILD_STARTER, "work")
    session.break_at(ATTACH_TARGET, "turn")
    attach(session, pid=program.pid, debug_subprocesses=True)
    code = f"__import__('subprocess').Popen([sys.executable, {CHILD_STARTER.path!r}, 'child'])"
    session.evaluate(code)

    [child] = wait_for_children(session)

    assert child.get(f"/status?wait={PATIENCE}")["location"]["line"] == CHILD_STARTER.line("work")
    assert child.resume()["status"] == "terminated"


def test_a_process_that_is_not_there_cannot_be_attached_to(session: Session) -> None:
    ended = subprocess.Popen(["true"])
    ended.wait()

    answer = session.post("/attach", {"pid": ended.pid}, expect=404)

    assert answer["error"]["code"] == "PROCESS_NOT_FOUND"
    assert answer["error"]["details"]["pid"] == ended.pid
    assert session.get("/status")["status"] == "created"


def test_the_server_does_not_attach_to_itself(session: Session) -> None:
    pid = session.server.process.pid
    assert "itself" in session.post("/attach", {"pid": pid}, expect=400)["error"]["message"]


# -- in a container -------------------------------------------------------------------------------

UNSHARE = ["unshare", "--fork", "--kill-child", "--pid", "--net", "--mount", "--mount-proc"]


SYSTEM_PYTHON = "/usr/bin/python3"


def may_unshare() -> bool:
    with contextlib.suppress(OSError):
        return subprocess.run([*UNSHARE, "true"], capture_output=True).returncode == 0
    return False


@pytest.mark.slow
@pytest.mark.skipif(not may_unshare(), reason="this user may not make namespaces")
def test_a_process_in_other_namespaces_is_attached_to(session: Session, running: Started) -> None:
    """It has its own processes, network and mounts, and sees neither our probe nor our debugpy."""
    hidden = [shlex.quote(str(folder)) for folder in (PROBE, Path(DEBUGPY, "debugpy"))]
    hide = " && ".join(f"mount -t tmpfs none {folder}" for folder in hidden)
    script = f'{hide} && exec "$0" "$@"'
    outer = running(*UNSHARE, "sh", "-c", script, sys.executable, ATTACH_TARGET.path).ready()
    [inner] = psutil.Process(outer.pid).children()
    session.break_at(ATTACH_TARGET, "turn")

    for _round in range(2):
        stop = attach(session, pid=inner.pid)

        assert (stop["status"], stop["reason"]) == ("paused", "breakpoint")
        assert session.get("")["pid"] == inner.pid
        assert session.evaluate("os.getpid()") == "1"
        assert session.evaluate(f"os.listdir({str(PROBE)!r})") == "[]"
        probe = session.evaluate("sys.modules['_holdfast'].__path__[0]").strip("'")
        folder = Path(f"/proc/{inner.pid}/root{probe}").parent
        assert folder.stat().st_mode & 0o777 == 0o700
        assert sorted(path.name for path in folder.iterdir()) == ["debugpy", "probe"]
        session.post("/detach")
        assert outer.is_free()
        assert not folder.exists()

    answer = session.post("/attach", {"pid": inner.pid, "debug_subprocesses": True}, expect=400)
    assert "another pid namespace" in answer["error"]["message"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root can start a process as another user")
@pytest.mark.skipif(not os.path.exists(SYSTEM_PYTHON), reason="no Python that all users can run")
def test_a_process_of_another_user_is_attached_to_by_root(
    session: Session, running: Started
) -> None:
    """It may read neither our ticket nor, perhaps, our files."""
    user = "import os; os.setgid(65534); os.setuid(65534); "
    loop = "print('ready', flush=True)\nwhile True: __import__('time').sleep(0.01)"
    program = running(SYSTEM_PYTHON, "-c", user + loop).ready()

    assert attach(session, pid=program.pid, wait=0)["status"] == "running"

    assert session.post("/pause", {"wait": PATIENCE})["status"] == "paused"
    assert session.evaluate("os.getuid()") == "65534"
    session.post("/detach")
    program.process.terminate()
    assert program.process.wait(60) == -signal.SIGTERM, "it ran on until now"


# -- by address -----------------------------------------------------------------------------------


def wait_for_listener(port: int) -> None:
    """By looking, not by connecting: who connects is its client."""

    def is_listening() -> bool:
        return any(
            connection.status == "LISTEN" and connection.laddr and connection.laddr.port == port
            for connection in psutil.net_connections("tcp")
        )

    wait_until(is_listening, f"a listener on port {port}", pause=0.02)


@pytest.fixture
def listening(running: Started) -> Iterator[Callable[..., tuple[Running, int]]]:
    adapters: list[int] = []
    ports = contextlib.ExitStack()

    def start(*argv: str) -> tuple[Running, int]:
        port = ports.enter_context(reserved_port())
        options = [sys.executable, "-Xfrozen_modules=off", "-m", "debugpy"]
        started = running(*options, "--listen", f"127.0.0.1:{port}", *argv)
        wait_for_listener(port)
        listeners = [c for c in psutil.net_connections("tcp") if c.laddr and c.laddr.port == port]
        adapters.extend(each.pid for each in listeners if each.pid and each.status == "LISTEN")
        return started, port

    with ports:
        yield start
    for pid in adapters:  # debugpy's adapters leave their program's group
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, 9)


@pytest.mark.slow
def test_a_debugpy_that_waits_for_its_client_is_attached_to(
    session: Session, listening: Callable[..., tuple[Running, int]]
) -> None:
    program, port = listening("--wait-for-client", ATTACH_TARGET.path)
    session.break_at(ATTACH_TARGET, "turn", condition="state['rounds'] == 5")
    session.break_at(
        ATTACH_TARGET, "back", log_message="round {state['rounds']}", hit_condition="== 2"
    )

    stop = attach(session, host="127.0.0.1", port=port)

    assert (stop["status"], stop["reason"]) == ("paused", "breakpoint")
    assert session.evaluate("state['rounds']") == "5"
    assert session.output("log") == "round 2\n"
    step = session.post("/step-over", {"wait": PATIENCE})
    assert step["location"]["line"] == ATTACH_TARGET.line("back")
    shown = session.get("")
    assert (shown["route"], shown["pid"]) == ("adapter", program.pid)

    assert session.post("/detach")["reason"] == "detached"

    assert program.observed()[1] == "False"
    again = attach(session, port=port, wait=0)
    assert again["status"] == "running"


@pytest.mark.slow
def test_a_debugpy_that_listens_is_attached_to_while_its_program_runs(
    server: Server, listening: Callable[..., tuple[Running, int]]
) -> None:
    program, port = listening(ATTACH_TARGET.path)
    program.ready()

    made = server.post("/sessions", {"mode": "attach", "host": "localhost", "port": port})

    session = Session(server, made["session_id"])
    assert session.post("/pause", {"wait": PATIENCE})["status"] == "paused"
    session.delete()
    assert program.observed()
    assert program.process.poll() is None


@pytest.mark.slow
def test_children_of_a_program_behind_an_adapter_are_left_alone(
    session: Session, listening: Callable[..., tuple[Running, int]]
) -> None:
    program, port = listening(
        "--wait-for-client", CHILD_STARTER.path, "popen", "fork_exits", "at_once"
    )
    session.break_at(CHILD_STARTER, "work")

    end = attach(session, port=port)

    assert end["status"] == "terminated"
    said, _errors = program.process.communicate()
    assert program.process.returncode == 0
    assert said == run_undebugged(sys.executable, "popen", "fork_exits", "at_once")[0]


# -- sources that are elsewhere for the program ----------------------------------------------------


def copy_sources(folder: Path) -> tuple[Program, Path]:
    """The program here, and its folder there, where one file more is."""
    here, there = folder / "here", folder / "there"
    for copy in (here, there):
        copy.mkdir()
        (copy / "attach_target.py").write_text(Path(ATTACH_TARGET.path).read_text())
    (there / "only_there.py").write_text("VALUE = 1\n")
    return Program("attach_target.py", here), there


def check_mapped_session(session: Session, program: Program, **how: Any) -> None:
    here = Path(program.path).parent
    [point] = session.break_at(program, "turn")
    pairs = [[str(here), str(here.with_name("there"))]]

    stop = attach(session, path_mappings=pairs, **how)

    assert (stop["reason"], stop["location"]["file"]) == ("breakpoint", program.path)
    stack = session.get("/stacktrace")["frames"]
    assert [frame["file"] for frame in stack[:2]] == [program.path] * 2
    [thread] = session.get("/threads")["threads"]
    assert thread["location"]["file"] == program.path
    assert session.get("/source?frame_id=0")["file"] == program.path
    assert session.get(f"/source?path={here / 'only_there.py'}")["content"] == "VALUE = 1\n"
    session.delete(f"/breakpoints/{point}")
    named = session.post("/breakpoints", {"function": "attach_target.turn"})
    assert session.resume()["breakpoint_id"] == named["breakpoint_id"]


@pytest.mark.slow
def test_paths_are_translated_for_a_process(
    session: Session, running: Started, tmp_path: Path
) -> None:
    program, there = copy_sources(tmp_path)
    argv = [str(there / "attach_target.py"), str(tmp_path / "unused")]
    process = running(sys.executable, *argv).ready()

    check_mapped_session(session, program, pid=process.pid)


@pytest.mark.slow
def test_paths_are_translated_for_a_debugpy_that_listens(
    session: Session, listening: Callable[..., tuple[Running, int]], tmp_path: Path
) -> None:
    program, there = copy_sources(tmp_path)
    _process, port = listening(str(there / "attach_target.py"), str(tmp_path / "unused"))

    check_mapped_session(session, program, port=port)


# -- what cannot be attached to --------------------------------------------------------------------


def test_where_nothing_listens_the_error_says_so(session: Session) -> None:
    with socket.socket() as taken:  # nobody else can listen there
        taken.bind(("127.0.0.1", 0))
        answer = session.post("/attach", {"port": taken.getsockname()[1]}, expect=400)

    assert answer["error"]["code"] == "ATTACH_FAILED"
    assert "--listen" in answer["error"]["hint"]
    assert session.get("/status")["status"] == "created"


@contextlib.contextmanager
def serving(answer: bytes) -> Iterator[int]:
    """A port where somebody says this to everybody, or nothing, and is no debugger."""
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def serve() -> None:
            with contextlib.suppress(OSError):
                peer, _address = listener.accept()
                with peer:
                    peer.sendall(answer)
                    while peer.recv(4096):
                        pass

        thread = threading.Thread(target=serve)
        thread.start()
        yield listener.getsockname()[1]
        thread.join()


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 400 Bad Request\r\nContent-Length: 5\r\n\r\nsorry",
        b"HTTP/1.0 400 Bad Request\r\n\r\n",
        b"SSH-2.0-OpenSSH\r\n",
        b"",
    ],
)
def test_a_port_that_is_no_debugpy_is_refused(session: Session, answer: bytes) -> None:
    patience = 0.5 if not answer else PATIENCE
    with serving(answer) as port, session.server.settings(request_timeout=patience):
        refused = session.post("/attach", {"port": port}, expect=400)

    assert refused["error"]["code"] == "ATTACH_FAILED"
    assert "no debugpy" in refused["error"]["message"]
    assert "--listen" in refused["error"]["hint"]
    assert session.get("/status")["status"] == "created"


def refuse(session: Session, pid: int) -> str:
    """Why the process cannot be attached to, which nobody needed gdb for."""
    answer = session.post("/attach", {"pid": pid}, expect=400)
    assert answer["error"]["code"] == "REQUEST_INVALID"
    assert "said" not in answer["error"]["details"]
    assert session.get("/status")["status"] == "created"
    return str(answer["error"]["message"])


def test_what_is_no_python_process_cannot_be_attached_to(session: Session, tmp_path: Path) -> None:
    pretender = tmp_path / "python3.11"  # only its name is Python's
    shutil.copy("/bin/sleep", pretender)
    with (
        subprocess.Popen(["/bin/sleep", "60"]) as sleeping,
        subprocess.Popen([str(pretender), "60"]) as pretending,
    ):
        try:
            for pid in (sleeping.pid, pretending.pid):
                assert "not a Python process" in refuse(session, pid)
        finally:
            sleeping.kill()
            pretending.kill()


@pytest.mark.skipif(not os.path.lexists("/proc/1/exe"), reason="no Linux")
def test_the_first_process_and_the_kernel_cannot_be_attached_to(session: Session) -> None:
    """The first may be a Python program, in a container; it has to be readable to be one."""
    kernel = [one.pid for one in psutil.process_iter(["ppid"]) if one.info["ppid"] == 2]
    system = [1, *kernel][:2]
    for pid in system:
        if psutil.Process(pid).name().startswith("python"):
            continue
        said = refuse(session, pid)
        if os.geteuid():
            assert "it belongs to another user" in said
        else:
            assert "not a Python process" in said or "lets nobody read it" in said


def test_a_stopped_process_is_said_to_be_stopped(session: Session, running: Started) -> None:
    program = running(sys.executable, ATTACH_TARGET.path).ready()
    program.process.send_signal(signal.SIGSTOP)
    wait_until(lambda: psutil.Process(program.pid).status() == psutil.STATUS_STOPPED, "the stop")

    assert "kill -CONT" in refuse(session, program.pid)


def test_a_process_that_has_ended_is_not_there(session: Session) -> None:
    with subprocess.Popen(["true"]) as zombie:
        os.waitid(os.P_PID, zombie.pid, os.WEXITED | os.WNOWAIT)
        session.post("/attach", {"pid": zombie.pid}, expect=404)
