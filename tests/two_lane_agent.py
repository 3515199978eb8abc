"""An agent with a helper in a lane of its own, and an expert that it asks inside a tool."""

from __future__ import annotations

from typing import Any

from holdfast.bridge import Bridge


class TwoLaneAgent:
    """Three turns. Each asks the helper, writes, and asks the expert; `done` is what really ran."""

    def __init__(self, dbg: Bridge, turns: int = 3) -> None:
        self.dbg, self._turns = dbg, turns
        self.done: list[str] = []
        self.messages: list[Any] = [{"role": "user", "content": "begin"}]
        self._ask = dbg.model(self._answer)
        self._write = dbg.tool(self._do_write, name="write")
        self._expert = dbg.tool(self._do_expert, name="expert")

    def _answer(self, messages: list[Any], model: str = "scripted") -> str:
        self.done.append(f"model {len(messages)}")
        return f"answer to {len(messages)}: {messages[-1]['content']}"

    def _do_write(self, path: str) -> str:
        self.done.append(f"write {path}")
        return f"wrote {path}"

    def _do_expert(self, question: str) -> str:
        self.done.append(f"expert {question}")
        said = self._ask([{"role": "user", "content": question}])
        return f"{said}, {self._write(f'expert of {question}')}"

    def _help(self, number: int) -> str:
        messages: list[Any] = [{"role": "user", "content": f"help {number}"}]
        with self.dbg.run(messages=messages, lane="helper"):
            messages.append({"role": "assistant", "content": self._ask(messages)})
            messages.append({"role": "tool", "content": self._write(f"helper {number}")})
            said: str = self._ask(messages)
        return said

    def __call__(self) -> list[Any]:
        with self.dbg.run(messages=self.messages):
            for number in range(self._turns):
                self.messages.append({"role": "assistant", "content": self._ask(self.messages)})
                self.messages.append({"role": "tool", "content": self._help(number)})
                self.messages.append({"role": "tool", "content": self._write(f"main {number}")})
                self.messages.append({"role": "tool", "content": self._expert(f"q{number}")})
        return self.messages
