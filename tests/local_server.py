"""A server without a process, a socket or a clock of its own: the real application and service.

Its loop runs only while a test asks it something, or turns the clock. Programs are scripted targets
(`scripted_target`). So a request takes a millisecond, and nothing happens between two of them.
"""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx

from harness import Server
from held_clock import HeldLoop
from holdfast.server.app import create_app
from holdfast.service.debugger import Debugger
from holdfast.store import open_store
from holdfast.store.sqlite.sqlite_store import SqliteStore
from scripted_target import ScriptedProcesses


class _Transport(httpx.BaseTransport):
    """Hands requests to the application in the loop, which runs until the answer is there."""

    def __init__(self, app: Any, loop: HeldLoop) -> None:
        self._inner = httpx.ASGITransport(app)
        self.loop = loop

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        return self.loop.run_until_complete(self.answer(request))

    async def answer(self, request: httpx.Request) -> httpx.Response:
        asked = httpx.Request(
            request.method, request.url, headers=request.headers, content=request.read()
        )
        answer = await self._inner.handle_async_request(asked)
        content = await answer.aread()
        return httpx.Response(answer.status_code, headers=answer.headers, content=content)


class PendingAnswer:
    """A request that is under way."""

    def __init__(self, task: asyncio.Task[httpx.Response], loop: HeldLoop) -> None:
        self._task = task
        self._loop = loop

    @property
    def is_there(self) -> bool:
        return self._task.done()

    @property
    def response(self) -> httpx.Response:
        """The answer, as soon as it is there."""
        return self._loop.run_until_complete(self._task)

    def read(self) -> Any:
        assert self.response.status_code < 400, (self.response.status_code, self.response.text)
        return self.response.json()


class LocalServer(Server):
    """The server of a test, to be asked in the same ways as one in a process of its own."""

    def __init__(self, data_dir: Path) -> None:
        self.data_dir = data_dir
        self.log = []
        self.loop = HeldLoop()
        self.processes = ScriptedProcesses()
        self.debugger = self.loop.run_until_complete(self._open())
        self._transport = _Transport(create_app(self.debugger), self.loop)
        self.url = "http://127.0.0.1:1"  # where nobody listens
        self.http = httpx.Client(base_url=self.url, transport=self._transport)
        self._is_open = True

    async def _open(self) -> Debugger:
        store = await open_store(self.data_dir)
        assert isinstance(store, SqliteStore)
        self.loop.find_write = lambda: store._database.writer.queue.last_write
        debugger = Debugger(
            self.data_dir,
            store,
            lambda *_: True,
            pool_size=0,
            spawn=self.processes.spawn,
        )
        await debugger.start()
        return debugger

    @property
    def is_running(self) -> bool:
        return self._is_open

    def turn(self, seconds: float) -> None:
        """Let time pass."""
        self.loop.turn(seconds)

    def send(self, method: str, path: str, body: Any = None) -> PendingAnswer:
        """Send a request, which is read with the next one, or when the server settles."""
        request = self.http.build_request(method, path, json=body)
        task = self.loop.create_task(self._transport.answer(request))
        return PendingAnswer(task, self.loop)

    def settle(self) -> None:
        """Do all that can be done without the clock."""
        self.loop.settle()

    def begin(self, method: str, path: str, body: Any = None) -> PendingAnswer:
        """Send a request, and do all that can be done without the clock."""
        pending = self.send(method, path, body)
        self.settle()
        return pending

    def stop(self) -> int:
        if self._is_open:
            self._is_open = False
            self.debugger.wake_all()
            self.loop.run_until_complete(self.debugger.close())
            self.http.close()
            self.loop.settle()
            left = asyncio.all_tasks(self.loop)
            self.loop.run_until_complete(self.loop.shutdown_default_executor())
            self.loop.close()
            assert not left, f"these tasks were not ended: {left}"
        return 0

    def close(self) -> None:
        self.stop()
