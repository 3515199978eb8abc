"""The end of a target: what it sent last is read first."""

from __future__ import annotations

import asyncio
import os
import socket
import sys
from collections.abc import Callable
from typing import Any

import pytest

from holdfast import errors
from holdfast.model.launch import Launch
from holdfast.targets.program import launcher
from holdfast.targets.program.process_spawner import Spawned, spawn
from holdfast.targets.program.target import Target, TargetListener
from holdfast.wire import dap


class Listener(TargetListener):
    def __init__(self) -> None:
        self.heard: list[str] = []

    def on_exception(self, exception: dap.Body) -> None:
        self.heard.append(exception["type"])

    def on_output(self, kind: str, text: str, **place: Any) -> None:
        self.heard.append(kind)

    def on_exit(self, code: int | None) -> None:
        self.heard.append("exit")


async def connect_target(listener: Listener) -> tuple[Target, socket.socket]:
    """A target of a process that we did not start, and the process's end of the connection."""
    target = Target(listener, route="pid", request_timeout=60)
    target.is_watched = True
    ours, theirs = socket.socketpair()
    ours.setblocking(False)
    loop = asyncio.get_running_loop()
    await loop.create_connection(lambda: target.connection, sock=ours)
    return target, theirs


def test_what_a_process_sent_last_is_read_before_its_end_is_reported() -> None:
    async def run() -> list[str]:
        listener = Listener()
        target, theirs = await connect_target(listener)
        target.finish_soon()  # the process is gone, and its last message still on its way
        body = {"kind": "exception", "exception": {"type": "KeyError"}}
        theirs.sendall(dap.encode({"type": "event", "event": "holdfast", "body": body}))
        theirs.close()
        await target.wait_until_ended()
        return listener.heard

    assert asyncio.run(run()) == ["KeyError", "exit"]


def test_a_connection_that_a_descendant_keeps_open_does_not_hide_the_end(
    limits: Callable[..., None],
) -> None:
    limits(last_messages=0.05)

    async def run() -> list[str]:
        listener = Listener()
        target, theirs = await connect_target(listener)
        target.finish_soon()
        with theirs:
            await target.wait_until_ended()
        return listener.heard

    assert asyncio.run(run()) == ["exit"]


def test_what_an_interpreter_wrote_before_its_start_failed_is_heard_first() -> None:
    async def spawn_and_wait(*args: Any, **options: Any) -> Spawned:
        """On a busy machine an interpreter may have ended before the server goes on."""
        process = await spawn(*args, **options)
        await process.wait()
        return process

    async def run() -> list[str]:
        listener = Listener()
        launch = Launch(code="1", python_path=sys.executable, env={"PYTHONHOME": "/nowhere"})
        request = launcher.Request(
            launch=launch,
            place=await launcher.locate(launch, os.getcwd()),
            setup=launcher.Setup({}),
            listener=listener,
            adopt=lambda process: None,
            timeout=60,
            request_timeout=60,
            spawn=spawn_and_wait,
        )
        with pytest.raises(errors.LaunchFailed):
            await launcher.start(request)
        return listener.heard

    heard = asyncio.run(run())
    assert set(heard) == {"stderr", "exit"}
    assert heard[-1] == "exit"
