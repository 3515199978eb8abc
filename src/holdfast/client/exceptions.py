"""What an application under call debugging can meet, and nothing else.

DebugError
├── DebugServerError         nobody answers, it answers with 5xx, or it takes too long
├── DebugTimeoutError        a held call was not decided in its time
├── DebugProtocolError       an answer that makes no sense
│   └── DecisionRefused      a decision that cannot be carried out
├── DebugSerializationError  a value that cannot be stored
├── DebugCIDNotFoundError    the server does not have a value, not even when it was sent again
└── DebugCIDMismatchError    bytes that are not those their content id names
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


class DebugError(Exception):
    """Something about the debugging of a call, not about the call."""


class DebugServerError(DebugError):
    """The server cannot be reached, fails, or does not answer in time.

    start_command: what starts the server that was looked for, if none answers on this machine
    """

    def __init__(self, message: str = "", *, start_command: str | None = None) -> None:
        super().__init__(f"{message}; `{start_command}` starts one" if start_command else message)
        self.message = message
        self.start_command = start_command


class DebugTimeoutError(DebugError):
    """Nobody decided about a held call in the time that it may be held."""


class DebugProtocolError(DebugError):
    """The server's answer is malformed, incomplete, or asks for something unknown."""


class DecisionRefused(DebugProtocolError):
    """A decision that this application cannot carry out.

    `field` is the part of it that is wrong, `hint` what to do instead, `choices` what would work.
    """

    def __init__(
        self,
        message: str,
        *,
        field: str | None = None,
        hint: str = "",
        choices: Sequence[str] = (),
    ) -> None:
        super().__init__(message)
        self.field = field
        self.hint = hint
        self.choices = list(choices)


class DebugSerializationError(DebugError):
    """A value cannot be stored; `configure_debug(on_unpicklable="placeholder")` lets it pass.

    function: the call that it belongs to, or None
    argument: the name of the parameter, `result`, or `target` for the object that was called
    path: where in the value, such as `config.pool.plug`
    value_type, part_type: the type of the value, and of what is at the path
    reason: what pickling it came to
    """

    def __init__(
        self, message: str = "", *, reason: str = "", value_type: str = "", part_type: str = ""
    ) -> None:
        super().__init__(message)
        self.function: str | None = None
        self.argument: str | None = None
        self.path = ""
        self.value_type = value_type
        self.part_type = part_type
        self.reason = reason or message
        self.cause: BaseException | None = None
        self.objects: list[Any] = []
        """From the value down to the part that refused."""


class DebugCIDNotFoundError(DebugError):
    """The server has no bytes under a content id, and there are none to send."""


class DebugCIDMismatchError(DebugError):
    """Bytes do not have the SHA-256 that their content id says."""
