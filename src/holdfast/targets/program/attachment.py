"""Attaches to a program that already runs, and to the children of one that we launched.

A `Door` is a listener on loopback to which debuggers inside targets connect. To attach to a pid,
our probe is injected into the process and connects to the door. To attach to `host:port`, we
connect to the adapter that listens there and load our probe through the debugger behind it.
"""

from __future__ import annotations

import asyncio
import contextlib
import enum
import json
import logging
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import psutil

from holdfast import errors
from holdfast.model.launch import Attach
from holdfast.targets.program import descriptors
from holdfast.targets.program.dap_connection import Connection, ConnectionClosed, Reply, body_of
from holdfast.targets.program.launcher import DEBUGPY, INITIALIZE, PROBE, Setup, post_setup
from holdfast.targets.program.process_killer import open_pidfd
from holdfast.targets.program.process_spawner import Spawned, spawn
from holdfast.targets.program.python_processes import find_obstacle_of_pid
from holdfast.targets.program.target import Target, TargetListener
from holdfast.wire import dap

log = logging.getLogger(__name__)

Trusted = Callable[[Any, Any], bool]
"""Whether the process at this peer address, of a connection to this local address, is ours."""


class Door:
    """A listener to which debuggers connect. Only processes of the same user may.

    A connection is put into `arrived` when it has answered as a debugger does.
    """

    def __init__(self, trusted: Trusted, create_target: Callable[[], Target]) -> None:
        self._trusted = trusted
        self._create_target = create_target
        self._server: asyncio.Server | None = None
        self._checks: set[asyncio.Task[None]] = set()
        self.arrived: asyncio.Queue[Target] = asyncio.Queue()
        self.refusal: str | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: DebuggerConnection(self), "127.0.0.1", 0)

    def admit(self, connection: DebuggerConnection, transport: asyncio.BaseTransport) -> bool:
        peer = transport.get_extra_info("peername")
        local = transport.get_extra_info("sockname")
        if self._server is None or not self._trusted(peer, local):
            return False
        target = self._create_target()
        connection.replace_connection_of(target)
        check = asyncio.create_task(self._check(target))
        self._checks.add(check)
        check.add_done_callback(self._checks.discard)
        return True

    async def _check(self, target: Target) -> None:
        """Ask for the pid, which only a debugger answers."""
        has_arrived = False
        try:
            facts = await target.connection.request(
                "pydevdSystemInfo", {}, timeout=target.request_timeout
            )
            target.pid = int(facts["process"]["pid"])
            self.arrived.put_nowait(target)
            has_arrived = True
        except (errors.HoldfastError, KeyError, TypeError, ValueError) as problem:
            self.refusal = problem.message if isinstance(problem, errors.Failure) else None
        finally:
            if not has_arrived:
                target.connection.close()

    def close(self) -> None:
        """Admit nobody else, and close the connections that nobody has taken yet."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for check in self._checks:
            check.cancel()
        while not self.arrived.empty():
            self.arrived.get_nowait().connection.close()


class DebuggerConnection(Connection):
    """A connection that the other side opened. Once admitted, it becomes that of a target."""

    def __init__(self, door: Door) -> None:
        super().__init__(lambda _name, _body: None, lambda: None)
        self._door = door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if not self._door.admit(self, transport):
            self.close()

    def replace_connection_of(self, target: Target) -> None:
        unused, target.connection = target.connection, self
        self._on_event, self._on_closed = unused._on_event, unused._on_closed


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
    await wire.request("initialize", INITIALIZE, timeout=seconds)
    attached = wire.post("attach", options)
    await asyncio.wait_for(wait_until_initialized(target, attached), seconds)
    if probe is not ProbeSource.LOADED:
        await load_probe(target, probe)
    await target.read_hello()
    await target.wait_for_replies(*post_setup(target, setup()))
    await wire.request("configurationDone", timeout=seconds)
    body_of(await asyncio.wait_for(attached, seconds), "attach")


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


async def load_probe(target: Target, probe: ProbeSource) -> None:
    """Make the debugger load our probe."""
    code = _local_code() if probe is ProbeSource.FILES else _remote_code()
    code += "import _holdfast.injection\n_holdfast.injection.join_debugger()\n"
    arguments = {"expression": f"exec({code!r}, {{}})", "context": "repl"}
    try:
        await target.connection.request("evaluate", arguments, timeout=target.request_timeout)
        await target.operate("hello")
    except errors.SessionCrashed:
        raise
    except errors.HoldfastError as problem:
        raise errors.AttachFailed(
            f"the debugger there did not take our probe: {problem.message}",
            hint="It needs debugpy 1.8.20 or newer.",
        ) from None


def _local_code() -> str:
    loader = PROBE / "package_loader.py"
    return (
        f"with open({str(loader)!r}, encoding='utf-8') as file:\n"
        "    namespace = {'__name__': '_holdfast_loader'}\n"
        f"    exec(compile(file.read(), {str(loader)!r}, 'exec'), namespace)\n"
        f"namespace['load_module']({str(PROBE)!r}, 'injection')\n"
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
    options: dap.Body = {
        "justMyCode": attach.just_my_code,
        "stopAllThreadsOnSuspend": attach.stop_all_threads,
        "steppingResumesAllThreads": attach.stop_all_threads,
        "subProcess": False,  # our probe follows the children
        "showReturnValue": True,
        "redirectOutput": False,
    }
    if attach.path_mappings:
        options["pathMappings"] = [
            {"localRoot": local, "remoteRoot": remote} for local, remote in attach.path_mappings
        ]
    return options


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
            hint="Start the program with `python -m debugpy --listen HOST:PORT program.py`.",
            host=host,
            port=port,
        ) from None
    return target


# -- by pid ---------------------------------------------------------------------------------------


async def connect_to_process(pid: int, door: Door, child_port: int, timeout: float) -> Target:
    """Inject our probe into a running process, and wait until it connects to the door."""
    _check_process(pid)
    code = (
        "import sys\nhad_threading = 'threading' in sys.modules\n"
        f"{_local_code()}import _holdfast.injection\n"
        "_holdfast.injection.enter_process("
        f"{door.port}, {DEBUGPY!r}, {child_port}, had_threading)\n"
    )
    helper, output = await _start_injector(pid, code)
    arrived = asyncio.create_task(_wait_for_arrival(pid, door))
    ended = asyncio.create_task(helper.wait())
    try:
        # The helper releases the process before it ends. Killed, it might leave it stopped.
        await asyncio.wait([ended], timeout=timeout)
        if ended.done() and ended.result() == 0:
            await asyncio.wait([arrived], timeout=timeout)
        if not arrived.done():
            _check_process(pid)
            raise _build_failure(pid, door.refusal, output, timeout)
        target = arrived.result()
    finally:
        arrived.cancel()
        ended.cancel()
        if helper.returncode is None:
            await helper.kill_tree()
        os.close(output)
    watch_foreign_process(target, pid)
    return target


async def _start_injector(pid: int, code: str) -> tuple[Spawned, int]:
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
            [sys.executable, str(script), str(pid), DEBUGPY],
            stdin=reading,
            stdout=theirs,
            stderr=subprocess.STDOUT,
        )
        on_failure.pop_all()
    return helper, output


async def _wait_for_arrival(pid: int, door: Door) -> Target:
    while True:
        target = await door.arrived.get()
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


def _build_failure(
    pid: int, refusal: str | None, output: int, timeout: float
) -> errors.HoldfastError:
    if refusal is not None:
        return errors.AttachFailed(f"cannot attach to process {pid}: {refusal}", pid=pid)
    os.set_blocking(output, False)
    with contextlib.suppress(OSError):
        text = os.read(output, 65536).decode("utf-8", "replace").strip()
        if text:
            return errors.AttachFailed(
                f"cannot attach to process {pid}: {text.splitlines()[-1]}",
                hint="Attaching needs gdb (or lldb) and the right to trace the process.",
                pid=pid,
                said=text[-2000:],
            )
    return errors.TimedOut(
        f"process {pid} did not answer within {timeout:g} s", operation="attach", pid=pid
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

    target.call_at_end(stop_watching)
    loop.add_reader(pidfd, target.finish, None)


Adopt = Callable[[Target], Awaitable[None]]


async def follow(door: Door, adopt: Adopt) -> None:
    """Adopt every child that connects to the door, side by side, until cancelled."""
    adoptions: set[asyncio.Task[None]] = set()
    try:
        while True:
            adoption = asyncio.create_task(_adopt(adopt, await door.arrived.get()))
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
