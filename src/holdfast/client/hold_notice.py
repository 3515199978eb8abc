"""The line on stderr that says that a call is held, and how to release it.

An application that waits looks like one that hangs. The line comes once for each hold, unless
`HOLDFAST_QUIET` is set. Whatever goes wrong with it is no concern of the application.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from typing import Any

from holdfast.client import discovery
from holdfast.client.function_registry import find_misfit, signature_of
from holdfast.client.invocation import Invocation
from holdfast.client.recorder import Answer, logger
from holdfast.client.value_preview import build_preview, clean

QUIET_VARIABLE = "HOLDFAST_QUIET"
_MAX_VALUE = 40
_MAX_CALL = 160


def announce_hold(answer: Answer, invocation: Invocation, moment: str, url: str) -> None:
    """`answer` is the server's, which says `poll`; `moment` is where the call waits."""
    if os.environ.get(QUIET_VARIABLE, "").lower() not in ("", "0", "off", "false", "no"):
        return
    try:
        stream = sys.stderr
        if stream is not None:
            stream.write(_describe(answer, invocation, moment, url) + "\n")
            stream.flush()
    except (
        Exception
    ):  # a closed or a foreign stream, a repr that fails: the call waits all the same
        logger.debug("a held call could not be announced", exc_info=True)


def _describe(answer: Answer, invocation: Invocation, moment: str, url: str) -> str:
    held_by = ""
    if answer.get("breakpoint_id"):
        held_by = f" by breakpoint {answer['breakpoint_id']}"
        if answer.get("breakpoint"):
            held_by += f" ({_shorten(str(answer['breakpoint']), _MAX_CALL)})"
    text = f"holdfast: {describe_call(invocation)} is held {moment}{held_by}"
    if answer.get("hold_id"):
        where = "" if url == discovery.announced_url() else f" --url {url}"
        text += f"; release it with: holdfast holds continue {answer['hold_id']}{where}"
    return "".join(sign if sign.isprintable() else " " for sign in clean(text))


def describe_call(invocation: Invocation) -> str:
    """The call in one line, its arguments by parameter name."""
    name = invocation.alias or invocation.qualname or invocation.name
    parts = [text if key is None else f"{key}={text}" for key, text in _list_arguments(invocation)]
    return f"{name}({_shorten(', '.join(parts), _MAX_CALL)})"


def _list_arguments(invocation: Invocation) -> Iterator[tuple[str | None, str]]:
    args, kwargs = invocation.args, invocation.kwargs
    names: list[str | None] = [None] * len(args)
    signature = signature_of(invocation.function)
    if signature is not None and find_misfit(signature, args, kwargs) is None:
        positional = [
            parameter.name
            for parameter in signature.parameters.values()
            if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
        ]
        names[: len(positional)] = positional[: len(args)]
    for name, value in zip(names, args, strict=True):
        yield name, _describe_value(value)
    for key, value in kwargs.items():
        yield key, _describe_value(value)


def _describe_value(value: Any) -> str:
    return _shorten(str(build_preview(value, max_chars=_MAX_VALUE)["text"]), _MAX_VALUE)


def _shorten(text: str, length: int) -> str:
    return text if len(text) <= length else text[: length - 1] + "…"
