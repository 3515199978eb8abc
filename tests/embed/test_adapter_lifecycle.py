"""The life of an adapter: start, stop, restart, the end of its process, forks, and bad timing."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import os
import resource
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest

from embed_adapters import SECONDS
from harness import Program
from holdfast.embed import (
    AdapterThread,
    DataBreakpointSpec,
    FunctionBreakpointSpec,
    LineBreakpointSpec,
)
from polling import wait_until

IDLE, LOOP = Program("idle.py"), Program("loop.py")
NOT_RUNNING = "^adapter not running$"

CALLS: dict[str, Callable[[AdapterThread], Future[Any]]] = {
    "launch": lambda adapter: adapter.launch(LOOP.path),
    "attach": lambda adapter: adapter.attach(pid=1),
    "continue": lambda adapter: adapter.continue_(),
    "resume": lambda adapter: adapter.resume(),
    "run_until": lambda adapter: adapter.run_until("x > 1"),
    "step": lambda adapter: adapter.step(),
    "pause": lambda adapter: adapter.pause(),
    "evaluate": lambda adapter: adapter.evaluate("1"),
    "stack": lambda adapter: adapter.stack(),
    "threads": lambda adapter: adapter.threads(),
    "locals": lambda adapter: adapter.locals(),
    "variables": lambda adapter: adapter.variables(1),
    "set_variable": lambda adapter: adapter.set_variable("x", "1"),
    "send_input": lambda adapter: adapter.send_input("x\n"),
    "output": lambda adapter: adapter.output(),
    "wait_for_stop": lambda adapter: adapter.wait_for_stop(),
    "wait_for_end": lambda adapter: adapter.wait_for_end(),
    "terminate": lambda adapter: adapter.terminate(),
    "detach": lambda adapter: adapter.detach(),
    "restart_program": lambda adapter: adapter.restart_program(),
    "status": lambda adapter: adapter.status(),
    "set_source": lambda adapter: adapter.breakpoints.set_source("a.py", [LineBreakpointSpec(1)]),
    "add_source": lambda adapter: adapter.breakpoints.add_source("a.py", LineBreakpointSpec(1)),
    "set_function": lambda adapter: adapter.breakpoints.set_function([FunctionBreakpointSpec("f")]),
    "set_exception": lambda adapter: adapter.breakpoints.set_exception(["raised"]),
    "data_info": lambda adapter: adapter.breakpoints.data_info("x", 0),
    "set_data": lambda adapter: adapter.breakpoints.set_data([DataBreakpointSpec("x")]),
    "list_all": lambda adapter: adapter.breakpoints.list_all(),
    "clear_all": lambda adapter: adapter.breakpoints.clear_all(),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
def test_before_the_start_and_after_the_stop_every_future_says_that_it_does_not_run(
    call: Callable[[AdapterThread], Future[Any]],
) -> None:
    adapter = AdapterThread()
    with pytest.raises(RuntimeError, match=NOT_RUNNING):
        call(adapter).result(SECONDS)
    assert not adapter.is_running


def test_after_the_stop_every_future_says_that_it_does_not_run() -> None:
    adapter = AdapterThread()
    with adapter:
        pass
    for call in CALLS.values():
        assert str(call(adapter).exception(SECONDS)) == "adapter not running"


def test_every_method_has_a_twin_to_await() -> None:
    for owner in (AdapterThread(), AdapterThread().breakpoints):
        for name in CALLS:
            if hasattr(owner, name):
                twin = getattr(owner, f"async_{name}")
                assert asyncio.iscoroutinefunction(twin)
                assert twin.__name__.startswith("async_")


def test_it_starts_and_stops_and_starts_again_with_a_fresh_session() -> None:
    adapter = AdapterThread()
    first_port = adapter.get_port_future()
    assert not first_port.done()
    adapter.start()
    assert adapter.is_running
    port, session = first_port.result(SECONDS), adapter.session_id
    assert isinstance(port, int)
    adapter.breakpoints.set_source(LOOP.path, [LineBreakpointSpec(LOOP.line("add"))]).result(
        SECONDS
    )
    adapter.stop()
    assert not adapter.is_running
    assert adapter.session_id is None
    adapter.start()
    assert adapter.is_running
    assert adapter.get_port_future() is not first_port
    assert adapter.session_id != session
    assert adapter.breakpoints.list_all().result(SECONDS) == []
    assert adapter.restart() is adapter
    assert adapter.is_running
    adapter.stop()


def test_it_may_be_started_and_stopped_twice() -> None:
    adapter = AdapterThread()
    adapter.stop()
    with adapter:
        session = adapter.session_id
        adapter.start()
        assert adapter.session_id == session
    adapter.stop()
    adapter.stop()


def test_it_may_be_started_and_stopped_by_many_threads_at_once() -> None:
    adapter = AdapterThread()

    def use(number: int) -> None:
        for _ in range(5):
            if number % 2:
                adapter.stop(SECONDS)
            else:
                with contextlib.suppress(RuntimeError):  # stopped before it was ready
                    adapter.start()

    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(use, number) for number in range(8)]:
            done.result(SECONDS)
    adapter.start()
    assert adapter.status().result(SECONDS)["status"] == "created"
    adapter.stop()
    assert not adapter.is_running


def test_the_port_is_not_known_any_more_if_it_is_stopped_before() -> None:
    adapter = AdapterThread()
    future = adapter.get_port_future()
    adapter.stop()
    with pytest.raises(RuntimeError, match=NOT_RUNNING):
        future.result(SECONDS)
    with adapter:  # and a start makes another one
        assert adapter.get_port_future().result(SECONDS) > 0


def test_a_start_that_fails_raises_and_can_be_repeated(tmp_path: Path) -> None:
    taken = tmp_path / "data"
    taken.write_text("not a directory")
    adapter = AdapterThread(taken)
    for _ in range(2):
        with pytest.raises(Exception, match="data"):
            adapter.start()
        assert not adapter.is_running
        assert isinstance(adapter.get_port_future().exception(SECONDS), RuntimeError)
    taken.unlink()
    with adapter:
        assert adapter.is_running


def test_a_given_data_directory_stays(tmp_path: Path) -> None:
    with AdapterThread(tmp_path / "data"):
        pass
    assert (tmp_path / "data").is_dir()


def test_nothing_of_the_process_is_changed_and_nothing_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with AdapterThread(http=True):  # what is loaded once stays
        pass
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))

    def observe() -> dict[str, object]:
        signals = [signal.getsignal(number) for number in signal.valid_signals()]
        return {
            "signals": signals,
            "limits": resource.getrlimit(resource.RLIMIT_NOFILE),
            "collector": (gc.get_threshold(), gc.get_freeze_count(), gc.isenabled()),
            "environment": dict(os.environ),
            "directory": os.getcwd(),
        }

    def count() -> tuple[set[str], int, list[Path], int]:
        gc.collect()
        threads = {thread.name for thread in threading.enumerate()}
        children = len(psutil.Process().children())
        return threads, psutil.Process().num_fds(), list(tmp_path.iterdir()), children

    before, left = observe(), count()
    with AdapterThread(http=True) as adapter:
        assert observe() == before
        adapter.launch(LOOP.path, stop_on_entry=True).result(SECONDS)
        adapter.wait_for_stop().result(SECONDS)
        assert observe() == before
        assert list(tmp_path.iterdir())
    assert observe() == before
    assert count() == left


def test_a_program_ends_with_the_adapter() -> None:
    with AdapterThread() as adapter:
        adapter.launch(IDLE.path).result(SECONDS)
        pid = find_debuggee(adapter)
        assert psutil.pid_exists(pid)
    assert not psutil.pid_exists(pid)


def find_debuggee(adapter: AdapterThread) -> int:
    session = adapter._link.session
    assert session is not None
    assert session.target is not None
    pid = session.target.pid
    assert pid is not None
    return pid


# -- Futures and the stop ------------------------------------------------------------------------


def test_outstanding_futures_end_at_once_when_it_is_stopped(adapter: AdapterThread) -> None:
    adapter.launch(IDLE.path).result(SECONDS)
    outstanding = [adapter.wait_for_stop(), adapter.wait_for_end()]
    outstanding += [adapter.wait_for_stop(timeout=1000) for _ in range(20)]
    adapter.status().result(SECONDS)  # those before it have begun
    ended_before_stop_returned = []
    outstanding[0].add_done_callback(lambda _: ended_before_stop_returned.append(adapter._run))
    adapter.stop()
    for future in outstanding:
        with pytest.raises(RuntimeError, match=NOT_RUNNING):
            future.result(0)
    assert ended_before_stop_returned


def test_calls_from_eight_threads_during_the_stop_never_hang(adapter: AdapterThread) -> None:
    adapter.launch(IDLE.path).result(SECONDS)
    made: list[Future[Any]] = []
    is_stopped = threading.Event()

    def call_all() -> None:
        """Call until the stop has begun, and a few times more. Each round waits for its last call:
        threads that never wait would keep the adapter's own thread from running."""
        refused = 0
        while refused < 20:
            made.append(adapter.wait_for_stop())
            made.append(adapter.breakpoints.set_source(LOOP.path, [LineBreakpointSpec(5)]))
            last = adapter.evaluate("1")
            made.append(last)
            refused += str(last.exception(SECONDS)) == "adapter not running"
        is_stopped.wait(SECONDS)
        made.append(adapter.evaluate("1"))

    with ThreadPoolExecutor(8) as pool:
        threads = [pool.submit(call_all) for _ in range(8)]
        wait_until(lambda: len(made) > 100)
        adapter.stop()
        is_stopped.set()
        for thread in threads:
            thread.result(SECONDS)
    assert not wait(made, SECONDS).not_done
    for future in made[-8:]:
        assert str(future.exception()) == "adapter not running"


def test_an_awaited_call_ends_with_the_stop(adapter: AdapterThread) -> None:
    async def await_a_stop() -> None:
        waiting = asyncio.ensure_future(adapter.async_wait_for_stop())
        assert (await adapter.async_status())["status"] == "created"
        await adapter.async_stop()
        with pytest.raises(RuntimeError, match=NOT_RUNNING):
            await waiting

    asyncio.run(await_a_stop())


def test_a_cancelled_future_ends_its_work(adapter: AdapterThread) -> None:
    future = adapter.wait_for_stop()
    adapter.status().result(SECONDS)
    assert future.cancel()
    assert future.cancelled()
    assert not wait([future], SECONDS).not_done
    session = adapter._link.session
    assert session is not None
    wait_until(lambda: not session._waiters)


def test_a_future_is_not_waited_for_in_the_adapters_own_thread(adapter: AdapterThread) -> None:
    outcome: Future[BaseException | None] = Future()

    def wait_inside(_done: Future[Any]) -> None:
        try:
            adapter.status().result()
        except RuntimeError as problem:
            outcome.set_result(problem)

    waiting = adapter.wait_for_stop()
    waiting.add_done_callback(wait_inside)
    adapter.launch(LOOP.path, stop_on_entry=True)
    assert "would wait for itself" in str(outcome.result(SECONDS))
    assert adapter.status().result(SECONDS)["status"] == "paused"


def test_it_can_be_stopped_and_asked_to_start_in_its_own_thread(adapter: AdapterThread) -> None:
    called: Future[str] = Future()

    def stop_inside(_done: Future[Any]) -> None:
        adapter.start()
        adapter.stop()
        called.set_result(threading.current_thread().name)

    waiting = adapter.wait_for_stop()
    waiting.add_done_callback(stop_inside)
    adapter.launch(LOOP.path, stop_on_entry=True)
    assert called.result(SECONDS) == "holdfast-adapter"
    adapter.stop()
    assert not adapter.is_running


def test_it_can_be_used_with_async_with_and_from_its_own_loop() -> None:
    async def use() -> None:
        async with AdapterThread() as adapter:
            assert (await adapter.async_status())["status"] == "created"

            async def use_inside() -> str:
                return (await adapter.async_status())["status"]

            inside = adapter.breakpoints._schedule(use_inside())
            assert await asyncio.wrap_future(inside) == "created"

    asyncio.run(use())


def test_a_client_over_rest_may_stop_it(http_adapter: AdapterThread) -> None:
    waiting = http_adapter.wait_for_stop()
    httpx.post(f"{http_adapter.url}/shutdown", timeout=SECONDS, trust_env=False)
    with pytest.raises(RuntimeError, match=NOT_RUNNING):
        waiting.result(SECONDS)
    wait_until(lambda: not http_adapter.is_running)
    http_adapter.start()
    assert http_adapter.status().result(SECONDS)["status"] == "created"


# -- the process around it -----------------------------------------------------------------------

FORGETFUL = """
import sys, tempfile
tempfile.tempdir = sys.argv[2]
from holdfast.embed import AdapterThread
adapter = AdapterThread(http=True)
adapter.start()
adapter.launch(sys.argv[1]).result()
waiting = adapter.wait_for_stop()
print(adapter._link.session.target.pid, flush=True)
if sys.argv[3] == "killed":
    sys.stdin.read()
"""


def run_script(script: str, *args: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-W", "ignore::DeprecationWarning", "-c", script, *args],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def test_a_process_that_forgets_to_stop_it_leaves_nothing_behind(tmp_path: Path) -> None:
    process = run_script(FORGETFUL, IDLE.path, str(tmp_path), "forgetful")
    out, problems = process.communicate(timeout=SECONDS)
    assert (process.returncode, problems) == (0, "")
    assert not psutil.pid_exists(int(out))
    assert list(tmp_path.iterdir()) == []


def test_the_program_of_a_process_that_is_killed_ends(tmp_path: Path) -> None:
    process = run_script(FORGETFUL, IDLE.path, str(tmp_path), "killed")
    assert process.stdout is not None
    pid = int(process.stdout.readline())
    process.kill()
    process.communicate()
    wait_until(lambda: not psutil.pid_exists(pid))


FORKED = """
import os, queue, sys
from holdfast.embed import AdapterThread, LineBreakpointSpec
heard = queue.Queue()
with AdapterThread() as adapter:
    adapter.breakpoints.on_breakpoint(heard.put)
    adapter.breakpoints.set_source(sys.argv[1], [LineBreakpointSpec(1)]).result()
    assert heard.get(timeout=60)["reason"] == "new"
    adapter.launch(sys.argv[1], stop_on_entry=True, wait=True).result()
    parent = os.getpid()
    pid = os.fork()
    if pid == 0:
        print(adapter.is_running, adapter.status().exception())
        print(adapter.breakpoints.set_source("a.py", [LineBreakpointSpec(1)]).exception())
        with adapter:
            print("its own:", adapter.launch(sys.argv[1], wait=True).result()["status"])
            adapter.breakpoints.set_source(sys.argv[1], [LineBreakpointSpec(1)]).result()
            print(heard.get(timeout=60)["reason"])
        sys.stdout.flush()
        os._exit(0)
    os.waitpid(pid, 0)
    print("the parent:", adapter.continue_(wait=True).result()["status"], parent)
"""


def test_a_fork_of_the_process_cannot_use_it_but_may_start_its_own() -> None:
    process = run_script(FORKED, LOOP.path)
    out, problems = process.communicate(timeout=SECONDS)
    assert (process.returncode, problems) == (0, "")
    *lines, last = out.splitlines()
    parent = last.split()[-1]
    assert last == f"the parent: terminated {parent}"
    clear = f"adapter not running: it belongs to the process {parent}, of which this one is a fork."
    assert lines[0].startswith(f"False {clear}")
    assert lines[1].startswith(clear)
    assert lines[2:] == ["its own: terminated", "new"]


def test_importing_holdfast_does_not_import_it() -> None:
    code = "import sys, holdfast; print('holdfast.embed' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"
