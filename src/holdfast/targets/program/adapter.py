"""The stock way, for what the direct one cannot do: debugpy's adapter and launcher in between.

It costs two more processes, has no stdin, and is used when our probe cannot start a program.
"""

from __future__ import annotations

import asyncio
import os
import socket
import subprocess
import sys
from typing import Any

from holdfast import errors
from holdfast.targets.program.attachment import Bring, inject, wait_until_initialized
from holdfast.targets.program.dap_connection import body_of
from holdfast.targets.program.launcher import INITIALIZE, Request, debug_options, post_setup
from holdfast.targets.program.process_spawner import spawn
from holdfast.targets.program.target import Target


async def start(request: Request) -> Target:
    """Launch through an adapter of our own."""
    target = Target(request.watcher, route="adapter", request_timeout=request.request_timeout)
    ours, theirs = socket.socketpair()
    try:
        process = await spawn(
            [sys.executable, "-m", "debugpy.adapter"],
            cwd=request.place.cwd,
            env=dict(os.environ),
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
            tag=request.tag,
        )
    except BaseException:
        ours.close()
        raise
    finally:
        theirs.close()
    request.adopted(process)
    ours.setblocking(False)
    await asyncio.get_running_loop().create_connection(lambda: target.connection, sock=ours)
    target.watch_process(process)
    try:
        await asyncio.wait_for(_configure(target, request), request.timeout)
    except asyncio.TimeoutError:
        await target.kill()
        raise errors.TimedOut("the adapter did not start the program", operation="launch") from None
    except BaseException:
        await target.kill()
        raise
    return target


async def _configure(target: Target, request: Request) -> None:
    wire = target.connection
    await wire.request("initialize", INITIALIZE, timeout=request.timeout)
    launched = wire.post("launch", _arguments(request))
    await wait_until_initialized(target, launched)
    await inject(target, Bring.FILES)
    target.introduce(await target.operate("hello"))
    setup = request.late_setup(target.import_path) if request.late_setup else request.setup
    await target.settled(*post_setup(target, setup))
    await wire.request("configurationDone", timeout=request.timeout)
    body_of(await launched, "launch")


def _arguments(request: Request) -> dict[str, Any]:
    place = request.place
    arguments: dict[str, Any] = {
        **debug_options(request.launch),
        "console": "internalConsole",
        "redirectOutput": True,
        "subProcess": False,
        "python": [place.interpreter.path],
        "cwd": place.cwd,
        "env": place.env,
        "args": place.spec["args"],
    }
    names = {"script": "program", "module": "module", "code": "code"}
    for ours, theirs in names.items():
        if ours in place.spec:
            arguments[theirs] = place.spec[ours]
    return arguments
