"""Messages that somebody edits: what was not touched stays the very object that it was."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from agent_loops import SessionFiles, open_bridge
from background import run_in_thread
from holdfast.bridge import ModelCall


@dataclass
class Said:
    """A framework's own message."""

    role: str
    text: str
    extra: object = None


def test_messages_that_were_not_touched_are_the_same_objects(tmp_path: Path) -> None:
    messages = [Said("system", "hush", extra=len), Said("user", "key sk-abcdefghijklmnop1234")]
    originals = list(messages)
    sent: list[Any] = []
    with open_bridge(tmp_path) as dbg:
        assert dbg.home is not None
        files = SessionFiles(dbg.home)
        files.breakpoint(on="model")
        call = ModelCall(
            messages,
            show=lambda message: {"role": message.role, "content": message.text},
            make=lambda message: Said(message["role"], message["content"]),
        )
        running = run_in_thread(
            lambda: dbg.call_model(call, lambda call: sent.extend(call.messages))
        )
        shown = files.wait_for_stop()["input"]["messages"]
        assert shown[1]["content"] == "key [redacted]"
        files.resume(
            action="modify", input={"messages": [*shown, {"role": "user", "content": "more"}]}
        )
        running.result(60)
    assert [each is original for each, original in zip(sent, originals, strict=False)] == [True] * 2
    assert sent[2] == Said("user", "more")
