"""Calls for the tests of stores."""

from __future__ import annotations

import hashlib
from typing import Any

from holdfast.model.call import CallRecord, CallStatus, Function, Parameter
from holdfast.model.call_batch import (
    CallBatch,
    CallOutline,
    CallSite,
    CallValue,
    CompletedCall,
)
from holdfast.model.call_query import CallQuery
from holdfast.store import CallLog

ADD = Function(
    1,
    "add",
    qualname="Calculator.add",
    signature="(a, b=1)",
    parameters=(
        Parameter("a"),
        Parameter("b", default={"text": "1", "type": "int", "json": 1}),
    ),
)
SUB = Function(2, "sub")
DONE = CallStatus.SUCCESS
ONLY_A_TARGET = CallOutline(has_outcome=False)


def cid(text: str | bytes) -> str:
    data = text.encode() if isinstance(text, str) else text
    return hashlib.sha256(data).hexdigest()


def call(number: int, **fields: Any) -> CallRecord:
    given = {"session_id": "calls_0000000a", "function": ADD, "call_type": "proxy", **fields}
    return CallRecord(number=number, **given)


def batch(
    *calls: tuple[int, int | None],
    session: str = "calls_0000000a",
    stack: int | None = None,
    values: tuple[CallValue, ...] = (b"a",),
    outline: CallOutline = ONLY_A_TARGET,
) -> CallBatch:
    """Completed calls: the number and the parent of each."""
    return CallBatch(
        session,
        {0: CallSite(1, "proxy", stack)},
        [CompletedCall(0, number, 5, parent, False, outline, values) for number, parent in calls],
    )


async def numbers(log: CallLog, limit: int = 100, **query: Any) -> list[int]:
    return [record.number for record in await log.newest(CallQuery(**query), limit)]
