"""A session of an agent, steered from outside as anybody would: through its files."""

from __future__ import annotations

import asyncio
import json
import threading
import time
from asyncio import base_events
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

from holdfast.bridge import Bridge, start
from holdfast.recording import command_sender

PATIENCE = 60.0


def turn_clocks(monkeypatch: Any, seconds: float) -> None:
    """Let this much time pass for all that waits in an event loop."""
    monkeypatch.setattr(base_events.BaseEventLoop, "time", lambda _loop: time.monotonic() + seconds)


class SteeredSession:
    def __init__(self, dbg: Bridge) -> None:
        self.dbg = dbg
        self._told: list[tuple[str, dict[str, Any]]] = []
        self._is_news = threading.Condition()
        self._stops_seen: set[str] = set()
        dbg.listen(self._hear)

    @classmethod
    def begin(
        cls, directory: Path, monkeypatch: Any, of: SteeredSession | None, mode: str
    ) -> SteeredSession:
        """A session; with `of`, one that replays it."""
        if of is None:
            monkeypatch.delenv("HOLDFAST_REPLAY", raising=False)
        else:
            of.dbg.close()
            monkeypatch.setenv("HOLDFAST_REPLAY", str(of.dbg.directory))
            monkeypatch.setenv("HOLDFAST_REPLAY_MODE", mode)
        return cls(start("tested", directory=directory))

    def _hear(self, _seq: int, kind: str, _moment: float, data: str) -> None:
        with self._is_news:
            self._told.append((kind, json.loads(data)))
            self._is_news.notify_all()

    def events(self, *kinds: str) -> list[dict[str, Any]]:
        """Of the file, which is what others read."""
        assert self.dbg.directory is not None
        lines = (self.dbg.directory / "events.jsonl").read_text().splitlines()
        found = [json.loads(line) for line in lines]
        return [each for each in found if not kinds or each["type"] in kinds]

    def data(self, kind: str) -> list[dict[str, Any]]:
        return [each["data"] for each in self.events(kind)]

    def kinds(self) -> list[str]:
        """What happened, in order; without what is said about commands and the session."""
        wanted = ("api_request", "api_response", "tool_call_start", "tool_result", "tool_call_end")
        return [each["type"] for each in self.events(*wanted)]

    def until(self, wanted: Callable[[str, dict[str, Any]], bool]) -> dict[str, Any]:
        with self._is_news:
            found = self._is_news.wait_for(
                lambda: next((data for kind, data in self._told if wanted(kind, data)), None),
                PATIENCE,
            )
        assert found is not None, [kind for kind, _ in self._told]
        return found

    def command(self, kind: str, **data: Any) -> None:
        """Sent, and carried out."""
        assert self.dbg.home is not None
        command_id = command_sender.send_command(self.dbg.home, kind, data)
        answer = self.until(lambda _, said: said.get("commandId") == command_id)
        assert answer.get("status") in ("accepted", "applied"), answer

    def pause(self) -> None:
        self.command("pause")

    def break_on_tool(self, name: str) -> None:
        self.command("breakpoint", action="add", on="tool", name=name)

    def held(self) -> dict[str, Any]:
        """The next stop, when it is there."""

        def is_new(kind: str, data: dict[str, Any]) -> bool:
            return kind == "paused" and data["stop"] not in self._stops_seen

        stop = self.until(is_new)
        self._stops_seen.add(stop["stop"])
        return stop

    def resume(self, stop: dict[str, Any], action: str = "continue", **more: Any) -> None:
        self.command("resume", stop=stop["stop"], action=action, **more)

    def stays_held(self) -> None:
        """Returns when it has been held for half a second more, by its own word."""
        seen = len([kind for kind, _ in self._told if kind == "state_snapshot"])
        with self._is_news:
            held = self._is_news.wait_for(
                lambda: len([k for k, _ in self._told if k == "state_snapshot"]) >= seen + 2,
                PATIENCE,
            )
        assert held


class WatchedEventLoop:
    """An event loop that does something else besides: it can be seen whether it is blocked."""

    def __init__(self) -> None:
        self._beats = 0
        self._beat = threading.Condition()

    def run(self, work: Callable[[], Awaitable[Any]]) -> Any:
        async def both() -> Any:
            heart = asyncio.create_task(self._go_on())
            try:
                return await work()
            finally:
                heart.cancel()

        return asyncio.run(both())

    async def _go_on(self) -> None:
        while True:
            with self._beat:
                self._beats += 1
                self._beat.notify_all()
            await asyncio.sleep(0.001)

    def goes_on(self) -> bool:
        """Whether the loop still turns."""
        with self._beat:
            now = self._beats
            return self._beat.wait_for(lambda: self._beats > now + 3, PATIENCE)
