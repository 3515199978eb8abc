"""Reaching a program that runs already, and following the children of one that we launched.

A `Door` is a listener on loopback at which debuggers inside targets report. A pid is reached by
having debugpy injected there and told to report at our door; `host:port` by speaking to the
adapter that listens there. In both cases our probe is brought in through the debugger.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable
from typing import Any

from holdfast import errors
from holdfast.model.launch import Attach
from holdfast.targets.program.connection import Connection, Gone, body_of
from holdfast.targets.program.ending import open_pidfd
from holdfast.targets.program.launching import INITIALIZE, PROBE, Setup, post_setup
from holdfast.targets.program.processes import spawn
from holdfast.targets.program.target import Target, Watcher

Trusted = Callable[[Any, Any], bool]
"""Is the process at this peer address (of a connection to this local address) one of ours?"""


class Door:
    """Where debuggers report. What comes in is not trusted until its owner is known."""

    def __init__(self, trusted: Trusted, made: Callable[[], Target]) -> None:
        self._trusted = trusted
        self._made = made
        self._server: asyncio.Server | None = None
        self.arrived: asyncio.Queue[Target] = asyncio.Queue()

    @property
    def port(self) -> int:
        assert self._server is not None
        port: int = self._server.sockets[0].getsockname()[1]
        return port

    async def open(self) -> None:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(self._enter, "127.0.0.1", 0)

    def _enter(self) -> Connection:
        target = self._made()
        return Visitor(target, self)

    def admit(self, target: Target, transport: asyncio.BaseTransport) -> bool:
        peer = transport.get_extra_info("peername")
        local = transport.get_extra_info("sockname")
        if not self._trusted(peer, local):
            return False
        self.arrived.put_nowait(target)
        return True

    def close(self) -> None:
        if self._server is not None:
            self._server.close()


class Visitor(Connection):
    """A connection made by the other side; it becomes its target's own once admitted."""

    def __init__(self, target: Target, door: Door) -> None:
        super().__init__(target.connection._on_event, target.connection._on_closed)
        self._target = target
        self._door = door

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        super().connection_made(transport)
        self._target.connection = self
        if not self._door.admit(self._target, transport):
            self.close()


# -- taking over ----------------------------------------------------------------------------------


async def take(
    target: Target, options: dict[str, Any], setup: Callable[[], Setup], *, remote: bool = False
) -> None:
    """Configure a debugger that has just connected, and let its program run on."""
    wire, seconds = target.connection, target.request_timeout
    await wire.request("initialize", INITIALIZE, timeout=seconds)
    attached = wire.post("attach", options)
    await asyncio.wait_for(wait_until_initialized(target, attached), seconds)
    await inject(target, follow=bool(options.get("subProcess")), remote=remote)
    facts = await target.operate("hello")
    target.pid, target.version = facts["pid"], tuple(facts["version"])
    target.import_path, target.mends = list(facts["path"]), dict(facts["mends"])
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


async def inject(target: Target, *, follow: bool, remote: bool) -> None:
    """Have the debugger load our probe: from our files, or from their text where they are not."""
    code = _remote_code(follow) if remote else _local_code(follow)
    arguments = {"expression": f"exec({code!r})", "context": "repl"}
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


def _local_code(follow: bool) -> str:
    return (
        "import importlib.util, sys\n"
        "if '_holdfast' not in sys.modules:\n"
        f"    here = {str(PROBE)!r}\n"
        "    spec = importlib.util.spec_from_file_location('_holdfast', here + '/__init__.py',"
        " submodule_search_locations=[here])\n"
        "    sys.modules['_holdfast'] = importlib.util.module_from_spec(spec)\n"
        "    spec.loader.exec_module(sys.modules['_holdfast'])\n"
        "import _holdfast.inject\n"
        f"_holdfast.inject.inject({follow})\n"
    )


def _remote_code(follow: bool) -> str:
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
        "import _holdfast.inject\n"
        f"_holdfast.inject.inject({follow})\n"
    )


def debug_options(attach: Attach) -> dict[str, Any]:
    options: dict[str, Any] = {
        "justMyCode": attach.just_my_code,
        "stopAllThreadsOnSuspend": attach.stop_all_threads,
        "subProcess": attach.debug_subprocesses,
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


async def reach(pid: int, door: Door, timeout: float) -> Target:
    """Inject debugpy into a running process and wait for it to report at our door."""
    _check_process(pid)
    argv = [sys.executable, "-m", "debugpy", "--connect", f"127.0.0.1:{door.port}"]
    argv += ["--pid", str(pid)]
    its, ours = os.pipe()
    try:
        helper = await spawn(argv, stdout=ours, stderr=subprocess.STDOUT)
    finally:
        os.close(ours)
    arrived = asyncio.create_task(door.arrived.get())
    ended = asyncio.create_task(helper.wait())
    try:
        await asyncio.wait([arrived, ended], timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        if ended.done() and ended.result() == 0 and not arrived.done():
            await asyncio.wait([arrived], timeout=timeout)
        if not arrived.done():
            raise _not_reached(pid, its, timeout)
        target = arrived.result()
    finally:
        arrived.cancel()
        ended.cancel()
        if helper.returncode is None:
            await helper.kill_tree()
        os.close(its)
    watch_stranger(target, pid)
    return target


def _check_process(pid: int) -> None:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        raise errors.AttachFailed(
            f"no process {pid}", hint="GET /processes lists the Python processes.", pid=pid
        ) from None
    except PermissionError:
        raise errors.AttachFailed(
            f"process {pid} belongs to another user", hint="Attach to your own.", pid=pid
        ) from None


def _not_reached(pid: int, its: int, timeout: float) -> errors.HoldfastError:
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

    def ended() -> None:
        loop.remove_reader(pidfd)
        os.close(pidfd)
        target.finish(None)

    loop.add_reader(pidfd, ended)


Follow = Callable[[Target], Awaitable[None]]


async def follow(door: Door, adopt: Follow) -> None:
    """Take in every child that reports, one after the other, for as long as the door is open."""
    while True:
        target = await door.arrived.get()
        try:
            await adopt(target)
        except (errors.HoldfastError, Gone, asyncio.TimeoutError):
            target.connection.close()
