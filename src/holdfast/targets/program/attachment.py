"""Attaches to a program that already runs, and to the children of one that we launched.

To attach to a pid, our probe is injected into the process and connects to a `JoinListener`. To
attach to `host:port`, we connect to the adapter that listens there and load our probe through the
debugger behind it.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import json
import logging
import os
import shutil
import subprocess
import sys
import textwrap
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil

from holdfast import errors, timings
from holdfast.model.launch import Attach
from holdfast.targets.program import descriptors
from holdfast.targets.program.attach_folder import AttachFolder
from holdfast.targets.program.dap_connection import ConnectionClosed, Reply, body_of
from holdfast.targets.program.join_listener import JoinListener
from holdfast.targets.program.launcher import DEBUGPY, INITIALIZE, PROBE, Setup, post_setup
from holdfast.targets.program.process_killer import open_pidfd
from holdfast.targets.program.process_spawner import Spawned, spawn
from holdfast.targets.program.process_view import ProcessView, read_view
from holdfast.targets.program.python_processes import find_obstacle_of_pid
from holdfast.targets.program.target import Target, TargetListener
from holdfast.wire import dap

log = logging.getLogger(__name__)

_MAX_LINE = 300
_LISTEN_HINT = "Start the program with `python -m debugpy --listen HOST:PORT program.py`."

# -- configuring a debugger -----------------------------------------------------------------------


class ProbeSource(enum.Enum):
    """Where a target loads our probe from."""

    LOADED = "it is loaded already"
    FILES = "our files"
    TEXT = "the request, because our files may not exist there"


async def configure(
    target: Target, options: dap.Body, setup: Callable[[], Setup], probe: ProbeSource
) -> None:
    """Configure a debugger that has just connected, and let its program run on."""
    wire, seconds = target.connection, target.request_timeout
    if target.route == "adapter":
        await _greet_adapter(target)
    else:
        await wire.request("initialize", INITIALIZE, timeout=seconds)
    attached = wire.post("attach", options)
    await asyncio.wait_for(wait_until_initialized(target, attached), seconds)
    if probe is not ProbeSource.LOADED:
        await load_probe(target, probe, captures_output=True)
    await target.read_hello()
    await target.wait_for_replies(*post_setup(target, setup()))
    await wire.request("configurationDone", timeout=seconds)
    body_of(await asyncio.wait_for(attached, seconds), "attach")


async def _greet_adapter(target: Target) -> None:
    """Initialize what listens there, and find out whether it is a debugger at all."""
    seconds = min(target.request_timeout, timings.TIMINGS.greeting)
    try:
        await target.connection.request("initialize", INITIALIZE, timeout=seconds)
    except errors.TimedOut:
        problem = f"it said nothing that a debugger would say for {seconds:g} s"
    except errors.SessionCrashed:
        problem = "it closed the connection, or does not speak a debugger's protocol"
    except errors.HoldfastError as refusal:
        problem = f"it refused: {refusal.message}"
    else:
        return
    raise errors.AttachFailed(
        f"what listens there is no debugpy, or is in use: {problem}", hint=_LISTEN_HINT
    ) from None


async def wait_until_initialized(target: Target, reply: Reply) -> None:
    """Wait for the event `initialized`, after which a debugger takes breakpoints."""
    ready = asyncio.create_task(target.initialized.wait())
    try:
        either: list[asyncio.Future[Any]] = [ready, reply]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            body_of(reply.result(), "attach")  # a refusal: success comes after `initialized`
            await ready
    except ConnectionClosed:
        raise errors.AttachFailed("the debugger closed the connection") from None
    finally:
        ready.cancel()


async def load_probe(target: Target, probe: ProbeSource, *, captures_output: bool) -> None:
    """Make the debugger load our probe, which reports output if nobody else does."""
    code = _local_code(str(PROBE)) if probe is ProbeSource.FILES else _remote_code()
    code += f"import _holdfast.injection\n_holdfast.injection.join_debugger({captures_output})\n"
    arguments = {"expression": f"exec({code!r}, {{}})", "context": "repl"}
    try:
        await target.connection.request("evaluate", arguments, timeout=target.request_timeout)
        await target.read_hello()
    except errors.SessionCrashed:
        raise
    except errors.HoldfastError as problem:
        raise errors.AttachFailed(
            f"the debugger there did not take our probe: {problem.message}",
            hint="It needs debugpy 1.8.20 or newer.",
        ) from None


def _local_code(probe: str) -> str:
    loader = f"{probe}/package_loader.py"
    return (
        f"with open({loader!r}, encoding='utf-8') as file:\n"
        "    namespace = {'__name__': '_holdfast_loader'}\n"
        f"    exec(compile(file.read(), {loader!r}, 'exec'), namespace)\n"
        f"namespace['load_module']({probe!r}, 'injection')\n"
    )


def _remote_code() -> str:
    """The whole probe as text, for another machine or a container, which lack our files."""
    texts = {path.stem: path.read_text("utf-8") for path in PROBE.glob("*.py")}
    del texts["boot"], texts["package_loader"]
    return (
        "import importlib.abc, importlib.util, json, sys\n"
        f"texts = json.loads({json.dumps(texts)!r})\n"
        "class Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):\n"
        "    def find_spec(self, name, path=None, target=None):\n"
        "        head, _, stem = name.partition('.')\n"
        "        if head == '_holdfast' and (stem or '__init__') in texts:\n"
        "            return importlib.util.spec_from_loader(name, self, is_package=not stem)\n"
        "    def exec_module(self, module):\n"
        "        stem = module.__name__.partition('.')[2] or '__init__'\n"
        "        code = compile(texts[stem], '<holdfast>/%s.py' % stem, 'exec')\n"
        "        exec(code, module.__dict__)\n"
        "if '_holdfast' not in sys.modules:\n"
        "    sys.meta_path.insert(0, Finder())\n"
    )


def debug_options(attach: Attach) -> dap.Body:
    return {
        "justMyCode": attach.just_my_code,
        "stopAllThreadsOnSuspend": attach.stop_all_threads,
        "steppingResumesAllThreads": attach.stop_all_threads,
        "subProcess": False,  # our probe follows the children
        "showReturnValue": True,
        "redirectOutput": False,
    }


# -- by address -----------------------------------------------------------------------------------


async def connect(
    host: str, port: int, listener: TargetListener, *, request_timeout: float
) -> Target:
    """Connect to a debugpy that listens."""
    target = Target(listener, route="adapter", request_timeout=request_timeout)
    loop = asyncio.get_running_loop()
    try:
        await asyncio.wait_for(
            loop.create_connection(lambda: target.connection, host, port), request_timeout
        )
    except (OSError, asyncio.TimeoutError) as problem:
        raise errors.AttachFailed(
            f"nothing answers at {host}:{port}: {problem or 'timed out'}",
            hint=_LISTEN_HINT,
            host=host,
            port=port,
        ) from None
    return target


# -- by pid ---------------------------------------------------------------------------------------


async def check_process(pid: int) -> None:
    """Raise unless we may attach to it."""
    await asyncio.to_thread(_check_process, pid)
    _check_injector()


async def view_process(pid: int) -> ProcessView:
    """How it sees the system."""
    try:
        return await asyncio.to_thread(read_view, pid)
    except FileNotFoundError:
        raise errors.ProcessNotFound(f"no process {pid}", pid=pid) from None
    except OSError as problem:
        raise errors.AttachFailed(
            f"cannot attach to process {pid}: the system does not say how it is separated"
            f" from this server: {problem.strerror}",
            pid=pid,
        ) from None


async def connect_to_process(
    view: ProcessView,
    join_listener: JoinListener,
    child_ticket: str,
    timeout: float,
    folder: AttachFolder | None = None,
) -> Target:
    """Inject our probe into a running process, and wait until it connects to the listener.

    Every user can read gdb's command line. So the code has the path of a ticket, and no secret.
    """
    pid = view.pid
    probe, debugpy_dir = (folder.probe, folder.path) if folder else (str(PROBE), DEBUGPY)
    work = (
        "import sys\nhad_threading = 'threading' in sys.modules\n"
        f"{_local_code(probe)}import _holdfast.injection\n"
        "_holdfast.injection.enter_process("
        f"{join_listener.ticket_path!r}, {debugpy_dir!r}, {child_ticket!r}, had_threading)\n"
    )
    # If the probe cannot even be loaded there, the program must not see a traceback.
    code = f"try:\n{textwrap.indent(work, '    ')}except BaseException:\n    pass\n"
    helper, output = await _start_injector(pid, code, *([folder.library] if folder else []))
    arrived = asyncio.create_task(_wait_for_arrival(view.inner_pid, join_listener))
    ended = asyncio.create_task(helper.wait())
    try:
        # The helper releases the process before it ends. Killed, it might leave it stopped.
        await asyncio.wait([ended], timeout=timeout)
        if ended.done() and ended.result() == 0:
            # With gdb our code has run by now, so it has connected.
            is_later = hasattr(sys, "remote_exec") and folder is None
            await asyncio.wait([arrived], timeout=timeout if is_later else timings.TIMINGS.arrival)
            if join_listener.has_visitor:
                await asyncio.wait([arrived], timeout=timeout)
        if not arrived.done():
            has_run = ended.done()
            if not has_run:
                await helper.kill_tree()  # while gdb traces the process, nobody else could
            await asyncio.to_thread(_check_process, pid)
            raise _build_failure(pid, join_listener.refusal, output, timeout, has_run=has_run)
        target = arrived.result()
    finally:
        arrived.cancel()
        ended.cancel()
        if helper.returncode is None:
            await helper.kill_tree()
        os.close(output)
    target.pid = target.outer_pid = pid
    watch_foreign_process(target, pid)
    return target


@dataclass(frozen=True)
class Invitation:
    """What a process needs that connects by itself."""

    ticket: str
    """The path of a file with the listener's address and its secret."""
    probe: str
    """The directory of our probe."""
    debugpy: str
    """The directory that debugpy is in."""


def write_invitation(join_listener: JoinListener, folder: AttachFolder | None) -> Invitation:
    probe, debugpy_dir = (folder.probe, folder.path) if folder else (str(PROBE), DEBUGPY)
    return Invitation(join_listener.ticket_path, probe, debugpy_dir)


async def wait_for_process(
    view: ProcessView, join_listener: JoinListener, timeout: float
) -> Target:
    """Wait until a process that was invited connects to the listener."""
    try:
        arrival = _wait_for_arrival(view.inner_pid, join_listener)
        target = await asyncio.wait_for(arrival, timeout)
    except asyncio.TimeoutError:
        raise errors.TimedOut(
            f"process {view.pid} did not connect within {timeout:g} s", operation="join"
        ) from None
    target.pid = target.outer_pid = view.pid
    watch_foreign_process(target, view.pid)
    return target


async def _start_injector(pid: int, code: str, *library: str) -> tuple[Spawned, int]:
    """Start the process that injects the code. Return it and the pipe with its output."""
    descriptors.check_room()
    with (
        descriptors.report_exhaustion(),
        contextlib.ExitStack() as on_failure,
        contextlib.ExitStack() as always,
    ):
        output, theirs = os.pipe()
        on_failure.callback(os.close, output)
        always.callback(os.close, theirs)
        reading, writing = os.pipe()
        for fd in (reading, writing):
            always.callback(os.close, fd)
        os.write(writing, code.encode())
        script = Path(__file__).with_name("code_injector.py")
        helper = await spawn(
            [sys.executable, str(script), str(pid), DEBUGPY, *library],
            stdin=reading,
            stdout=theirs,
            stderr=subprocess.STDOUT,
        )
        on_failure.pop_all()
    return helper, output


async def _wait_for_arrival(pid: int, join_listener: JoinListener) -> Target:
    while True:
        target = await join_listener.arrived.get()
        if target.pid == pid:
            return target
        target.connection.close()


def _check_process(pid: int) -> None:
    """Raise unless the process exists and we may attach to it."""
    try:
        reason = find_obstacle_of_pid(pid)
    except psutil.NoSuchProcess:
        raise errors.ProcessNotFound(f"no process {pid}", pid=pid) from None
    if reason is not None:
        raise errors.InvalidInput(
            f"cannot attach to process {pid}: {reason}",
            hint="GET /processes lists the Python processes and which can be attached to.",
            field="pid",
            pid=pid,
        )


def _check_injector() -> None:
    if not (shutil.which("gdb") or shutil.which("lldb") or hasattr(sys, "remote_exec")):
        raise errors.AttachFailed(
            "attaching to a process needs gdb (or lldb), which is not installed here",
            hint="Install gdb, or start the program with `python -m debugpy --listen`.",
        )


def _build_failure(
    pid: int, refusal: str | None, output: int, timeout: float, *, has_run: bool
) -> errors.HoldfastError:
    if refusal is not None:
        return errors.AttachFailed(f"cannot attach to process {pid}: {refusal}", pid=pid)
    if not has_run:
        return errors.TimedOut(
            f"process {pid} did not run our code within {timeout:g} s",
            hint="It may be busy outside Python, or hold the interpreter's lock.",
            operation="attach",
            pid=pid,
        )
    os.set_blocking(output, False)
    text = ""
    with contextlib.suppress(OSError):
        text = os.read(output, 65536).decode("utf-8", "replace")
    # The longest lines are the command, with our code in it.
    text = "\n".join(line for line in text.splitlines() if 0 < len(line) < _MAX_LINE)
    log.warning("no code could be run in process %d: %s", pid, text)
    return errors.AttachFailed(
        f"cannot attach to process {pid}: no code could be run in it",
        hint="It may be traced by another debugger, or protected. `said` is what gdb printed.",
        pid=pid,
        said=text[-2000:],
    )


def watch_foreign_process(target: Target, pid: int) -> None:
    """Finish the target when a process that is not our child ends. Its exit code is not known."""
    pidfd = open_pidfd(pid)
    if pidfd is None:
        return
    loop = asyncio.get_running_loop()

    def stop_watching() -> None:
        loop.remove_reader(pidfd)
        os.close(pidfd)

    def note_end() -> None:
        loop.remove_reader(pidfd)
        target.finish_soon()

    target.is_watched = True
    target.call_at_end(stop_watching)
    loop.add_reader(pidfd, note_end)


Adopt = Callable[[Target], Awaitable[None]]


async def follow(join_listener: JoinListener, adopt: Adopt) -> None:
    """Adopt every child that connects to the listener, side by side, until cancelled."""
    adoptions: set[asyncio.Task[None]] = set()
    try:
        while True:
            adoption = asyncio.create_task(_adopt(adopt, await join_listener.arrived.get()))
            adoptions.add(adoption)
            adoption.add_done_callback(adoptions.discard)
    finally:
        for adoption in adoptions:
            adoption.cancel()


async def _adopt(adopt: Adopt, target: Target) -> None:
    """A child waits until it is configured. If that fails, closing the connection lets it run."""
    is_adopted = False
    try:
        await adopt(target)
        is_adopted = True
    except (errors.HoldfastError, ConnectionClosed, asyncio.TimeoutError) as problem:
        log.warning("a child process is not followed: %s", problem)
    finally:
        if not is_adopted:
            target.connection.close()
