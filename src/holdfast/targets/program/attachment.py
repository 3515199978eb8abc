"""Reaching a program that runs already, and following the children of one that we launched.

A `Door` is a listener on loopback at which debuggers inside targets report. A pid is reached by
having our probe injected there and told to report at our door; `host:port` by speaking to the
adapter that listens there, and bringing our probe in through the debugger behind it.
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
from holdfast.targets.program.dap_connection import Connection, Gone, body_of
from holdfast.targets.program.launcher import DEBUGPY, INITIALIZE, PROBE, Setup, post_setup
from holdfast.targets.program.process_killer import open_pidfd
from holdfast.targets.program.process_spawner import Spawned, spawn
from holdfast.targets.program.python_processes import obstacle_of
from holdfast.targets.program.target import Target, Watcher

log = logging.getLogger(__name__)

Trusted = Callable[[Any, Any], bool]
"""Is the process at this peer address (of a connection to this local address) one of ours?"""


class Door:
    """Where debuggers report. What comes in is not trusted until its owner is known.

    Nor is it believed to be a debugger until it answers as one: somebody who connects and says
    nothing is never in `arrived`, and keeps nobody waiting.
    """

    def __init__(self, trusted: Trusted, made: Callable[[], Target]) -> None:
        self._trusted = trusted
        self._made = made
        self._server: asyncio.Server | None = None
        self._asked: set[asyncio.Task[None]] = set()
        self.arrived: asyncio.Queue[Target] = asyncio.Queue()
        self.refusal: str | None = None

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Visitor(self), "127.0.0.1", 0)

    def admit(self, visitor: Visitor, transport: asyncio.BaseTransport) -> bool:
        peer = transport.get_extra_info("peername")
        local = transport.get_extra_info("sockname")
        if self._server is None or not self._trusted(peer, local):
            return False
        target = self._made()
        visitor.become_connection_of(target)
        asking = asyncio.create_task(self._ask(target))
        self._asked.add(asking)
        asking.add_done_callback(self._asked.discard)
        return True

    async def _ask(self, target: Target) -> None:
        """Who is it? Only a debugger knows the answer."""
        try:
            facts = await target.connection.request(
                "pydevdSystemInfo", {}, timeout=target.request_timeout
            )
            target.pid = int(facts["process"]["pid"])
        except (errors.HoldfastError, KeyError, TypeError, ValueError) as problem:
            self.refusal = problem.message if isinstance(problem, errors.Failure) else None
            target.connection.close()
            return
        except BaseException:
            target.connection.close()
            raise
        self.arrived.put_nowait(target)

    def close(self) -> None:
        """Nobody else comes in; who is in the middle of it is sent away, and runs on by itself."""
        if self._server is not None:
            self._server.close()
            self._server = None
        for asking in self._asked:
            asking.cancel()
        while not self.arrived.empty():
            self.arrived.get_nowait().connection.close()


class Visitor(Connection):
    """A connection made by the other side; it becomes a target's own once admitted."""

    def __init__(self, door: Door) -> None:
        super().__init__(lambda _name, _body: None, lambda: None)
        self._door = door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        if not self._door.admit(self, transport):
            self.close()

    def become_connection_of(self, target: Target) -> None:
        unused, target.connection = target.connection, self
        self._on_event, self._on_closed = unused._on_event, unused._on_closed


# -- taking over ----------------------------------------------------------------------------------


class Bring(enum.Enum):
    """How our probe gets into a target."""

    IS_THERE = "it came before"
    FILES = "from our files"
    TEXT = "as text, for our files may not be there"


async def take(
    target: Target, options: dict[str, Any], setup: Callable[[], Setup], bring: Bring
) -> None:
    """Configure a debugger that has just connected, and let its program run on."""
    wire, seconds = target.connection, target.request_timeout
    await wire.request("initialize", INITIALIZE, timeout=seconds)
    attached = wire.post("attach", options)
    await asyncio.wait_for(wait_until_initialized(target, attached), seconds)
    if bring is not Bring.IS_THERE:
        await inject(target, bring)
    target.introduce(await target.operate("hello"))
    await target.settled(*post_setup(target, setup()))
    await wire.request("configurationDone", timeout=seconds)
    body_of(await asyncio.wait_for(attached, seconds), "attach")


async def wait_until_initialized(target: Target, asked: asyncio.Future[dict[str, Any]]) -> None:
    """A debugger takes breakpoints once it says so; through an adapter only then, too."""
    ready = asyncio.create_task(target.initialized.wait())
    try:
        either: list[asyncio.Future[Any]] = [ready, asked]
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not ready.done():
            body_of(asked.result(), "attach")  # a refusal; success comes after `initialized`
            await ready
    except Gone:
        raise errors.AttachFailed("the debugger closed the connection") from None
    finally:
        ready.cancel()


async def inject(target: Target, bring: Bring) -> None:
    """Have the debugger load our probe."""
    code = _local_code() if bring is Bring.FILES else _remote_code()
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
    return (
        "import importlib.util, sys\n"
        "if '_holdfast' not in sys.modules:\n"
        f"    here = {str(PROBE)!r}\n"
        "    spec = importlib.util.spec_from_file_location('_holdfast', here + '/__init__.py',"
        " submodule_search_locations=[here])\n"
        "    sys.modules['_holdfast'] = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(sys.modules['_holdfast'])\n"
    )


def _remote_code() -> str:
    """The whole probe as text: on another machine, or in a container, our files are not there."""
    texts = {path.stem: path.read_text("utf-8") for path in PROBE.glob("*.py")}
    del texts["boot"]
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


def debug_options(attach: Attach) -> dict[str, Any]:
    options: dict[str, Any] = {
        "justMyCode": attach.just_my_code,
        "stopAllThreadsOnSuspend": attach.stop_all_threads,
        "steppingResumesAllThreads": attach.stop_all_threads,
        "subProcess": False,  # children are followed by our probe, or not at all
        "showReturnValue": True,
        "redirectOutput": False,
    }
    if attach.path_mappings:
        options["pathMappings"] = [
            {"localRoot": local, "remoteRoot": remote} for local, remote in attach.path_mappings
        ]
    return options


# -- by address -----------------------------------------------------------------------------------


async def connect(host: str, port: int, watcher: Watcher, *, request_timeout: float) -> Target:
    """Speak to a debugpy that listens."""
    target = Target(watcher, route="adapter", request_timeout=request_timeout)
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


async def reach(pid: int, door: Door, child_port: int, timeout: float) -> Target:
    """Have our probe injected into a running process, and wait for it to report at our door."""
    _check_process(pid)
    code = (
        "import sys\nhad_threading = 'threading' in sys.modules\n"
        f"{_local_code()}import _holdfast.injection\n"
        "_holdfast.injection.enter_process("
        f"{door.port}, {DEBUGPY!r}, {child_port}, had_threading)\n"
    )
    helper, its = await _inject_into(pid, code)
    arrived = asyncio.create_task(_arrived(pid, door))
    ended = asyncio.create_task(helper.wait())
    try:
        # The helper lets go of the process before it ends; killed, it might leave it stopped.
        await asyncio.wait([ended], timeout=timeout)
        if ended.done() and ended.result() == 0:
            await asyncio.wait([arrived], timeout=timeout)
        if not arrived.done():
            _check_process(pid)
            raise _not_reached(pid, door.refusal, its, timeout)
        target = arrived.result()
    finally:
        arrived.cancel()
        ended.cancel()
        if helper.returncode is None:
            await helper.kill_tree()
        os.close(its)
    watch_stranger(target, pid)
    return target


async def _inject_into(pid: int, code: str) -> tuple[Spawned, int]:
    """The process that does it, and the end of a pipe that tells what it says."""
    its, theirs = os.pipe()
    reading, writing = os.pipe()
    try:
        os.write(writing, code.encode())
        argv = [
            sys.executable,
            str(Path(__file__).with_name("code_injector.py")),
            str(pid),
            DEBUGPY,
        ]
        helper = await spawn(argv, stdin=reading, stdout=theirs, stderr=subprocess.STDOUT)
    except BaseException:
        os.close(its)
        raise
    finally:
        for fd in (theirs, reading, writing):
            os.close(fd)
    return helper, its


async def _arrived(pid: int, door: Door) -> Target:
    while True:
        target = await door.arrived.get()
        if target.pid == pid:
            return target
        target.connection.close()


def _check_process(pid: int) -> None:
    """A process that is not there, or not to be had, is the asker's mistake."""
    try:
        reason = obstacle_of(pid)
    except psutil.NoSuchProcess:
        raise errors.ProcessNotFound(f"no process {pid}", pid=pid) from None
    if reason is not None:
        raise errors.InvalidInput(
            f"cannot attach to process {pid}: {reason}",
            hint="GET /processes lists the Python processes and which can be attached to.",
            field="pid",
            pid=pid,
        )


def _not_reached(pid: int, refusal: str | None, its: int, timeout: float) -> errors.HoldfastError:
    if refusal is not None:
        return errors.AttachFailed(f"cannot attach to process {pid}: {refusal}", pid=pid)
    os.set_blocking(its, False)
    with contextlib.suppress(OSError):
        said = os.read(its, 65536).decode("utf-8", "replace").strip()
        if said:
            return errors.AttachFailed(
                f"cannot attach to process {pid}: {said.splitlines()[-1]}",
                hint="Attaching needs gdb (or lldb) and the right to trace the process.",
                pid=pid,
                said=said[-2000:],
            )
    return errors.TimedOut(
        f"process {pid} did not answer within {timeout:g} s", operation="attach", pid=pid
    )


def watch_stranger(target: Target, pid: int) -> None:
    """A process that is not our child: its end can be seen, its exit code cannot."""
    pidfd = open_pidfd(pid)
    if pidfd is None:
        return
    loop = asyncio.get_running_loop()

    def stop_watching() -> None:
        loop.remove_reader(pidfd)
        os.close(pidfd)

    target.when_finished(stop_watching)
    loop.add_reader(pidfd, target.finish, None)


Adopt = Callable[[Target], Awaitable[None]]


async def follow(door: Door, adopt: Adopt) -> None:
    """Take in every child that reports, each in its own time, for as long as the door is open."""
    adoptions: set[asyncio.Task[None]] = set()
    try:
        while True:
            adoption = asyncio.create_task(_adopted(adopt, await door.arrived.get()))
            adoptions.add(adoption)
            adoption.add_done_callback(adoptions.discard)
    finally:
        for adoption in adoptions:
            adoption.cancel()


async def _adopted(adopt: Adopt, target: Target) -> None:
    """A child waits until it is configured: where that fails, closing the wire lets it run."""
    try:
        await adopt(target)
    except (errors.HoldfastError, Gone, asyncio.TimeoutError) as problem:
        log.warning("a child process is not followed: %s", problem)
        target.connection.close()
    except BaseException:
        target.connection.close()
        raise
