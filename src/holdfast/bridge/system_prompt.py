"""Where a model call has its system prompt, and how it is changed.

It is one of the messages (`system` or `developer`), or an argument of the call (`system`,
`instructions`). A framework may have its own place for it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from holdfast.wire.message_text import SYSTEM_ARGUMENTS, SYSTEM_ROLES

if TYPE_CHECKING:
    from holdfast.bridge.agent_calls import ModelCall

ROLES = SYSTEM_ROLES
ARGUMENTS = SYSTEM_ARGUMENTS


class SystemPrompt(Protocol):
    def read(self, call: ModelCall) -> Any:
        """The prompt of a call, as JSON; None if it has none."""

    def write(self, call: ModelCall, text: str) -> None: ...


class MessagePrompt:
    """It is the first message of its role."""

    def find(self, call: ModelCall) -> int | None:
        for at, message in enumerate(call.messages):
            shown = call.show(message)
            if isinstance(shown, dict) and shown.get("role") in ROLES:
                return at
        return None

    def read(self, call: ModelCall) -> Any:
        at = self.find(call)
        return None if at is None else call.show(call.messages[at]).get("content")

    def write(self, call: ModelCall, text: str) -> None:
        at = self.find(call)
        if at is None:
            call.messages.insert(0, call.make({"role": "system", "content": text}))
        else:
            shown = call.show(call.messages[at])
            call.messages[at] = call.make({**shown, "content": text})


@dataclass(frozen=True)
class ArgumentPrompt:
    """It is a setting of the call; `default` is what the function uses without it."""

    name: str
    default: Any = None

    def read(self, call: ModelCall) -> Any:
        return call.settings.get(self.name, self.default)

    def write(self, call: ModelCall, text: str) -> None:
        call.settings[self.name] = text


IN_MESSAGES = MessagePrompt()
