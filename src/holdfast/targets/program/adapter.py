"""Starts a program through debugpy's own adapter and launcher.

It is used when our probe cannot start the program. It costs two more processes and has no stdin.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import socket
import subprocess
import sys

from holdfast import errors
from holdfast.targets.program import descriptors
from holdfast.targets.program.attachment import ProbeSource, load_probe, wait_until_initialized
from holdfast.targets.program.dap_connection import body_of
from holdfast.targets.program.launcher import (
    INITIALIZE,
    LAUNCH_AGAIN,
    Request,
    debug_options,
    post_setup,
)
from holdfast.targets.program.process_spawner import spawn
from holdfast.targets.program.target import Target, kill_on_failure
from holdfast.wire import dap


async def start(request: Request) -> Target:
    """Launch through an adapter of our own."""
    target = Target(request.listener, route="adapter", request_timeout=request.request_timeout)
    descriptors.check_room()
    with descriptors.report_exhaustion():
        ours, theirs = socket.socketpair()
    with descriptors.report_exhaustion(), contextlib.ExitStack() as on_failure, theirs:
        on_failure.callback(ours.close)
        process = await spawn(
            [sys.executable, "-m", "debugpy.adapter"],
            cwd=request.place.cwd,
            env=dict(os.environ),
            stdin=theirs.fileno(),
            stdout=theirs.fileno(),
            stderr=subprocess.DEVNULL,
            tag=request.tag,
        )
        on_failure.pop_all()
    request.adopt(process)
    ours.setblocking(False)
    await asyncio.get_running_loop().create_connection(lambda: target.connection, sock=ours)
    target.watch_process(process)
    try:
        async with kill_on_failure(target):
            await asyncio.wait_for(_configure(target, request), request.timeout)
    except asyncio.TimeoutError:
        raise errors.TimedOut(
            "the adapter did not start the program", hint=LAUNCH_AGAIN, operation="launch"
        ) from None
    return target


async def _configure(target: Target, request: Request) -> None:
    wire = target.connection
    await wire.request("initialize", INITIALIZE, timeout=request.timeout)
    launched = wire.post("launch", _build_arguments(request))
    await wait_until_initialized(target, launched)
    await load_probe(target, ProbeSource.FILES, captures_output=False)
    await target.read_hello()
    setup = request.late_setup(target.import_path) if request.late_setup else request.setup
    await target.wait_for_replies(*post_setup(target, setup))
    await wire.request("configurationDone", timeout=request.timeout)
    body_of(await launched, "launch")


def _build_arguments(request: Request) -> dap.Body:
    spec: dap.Body = {**request.place.spec}
    place = request.place
    arguments: dap.Body = {
        **debug_options(request.launch),
        "console": "internalConsole",
        "redirectOutput": True,
        "subProcess": False,
        "python": [place.interpreter.path],
        "cwd": place.cwd,
        "env": place.env,
        "args": spec["args"],
        "pythonArgs": spec["python_args"],
    }
    names = {"script": "program", "module": "module", "code": "code"}
    for ours, theirs in names.items():
        if ours in spec:
            arguments[theirs] = spec[ours]
    return arguments
