"""What the command and the replaying process tell each other, as JSON."""

from __future__ import annotations

from typing import Any, TypedDict

Expression = Any
"""Source code as data: see `source_expressions`."""


class StoredValue(TypedDict):
    cid: str


class ChangedValues(TypedDict, total=False):
    """The values that a call left changed."""

    args: dict[str, StoredValue]  # by position
    kwargs: dict[str, StoredValue]
    target: StoredValue


class CallRecord(TypedDict, total=False):
    """What `GET /api/calls/{id}` answers, as far as a replay needs it."""

    call_type: str
    method_name: str
    alias: str | None
    qualname: str | None
    signature: str | None
    status: str
    args: list[StoredValue]
    kwargs: dict[str, StoredValue]
    target_cid: str | None
    result_cid: str | None
    exception_cid: str | None
    exception_type: str
    exception_message: str
    changed: ChangedValues | None
    decision: dict[str, Any] | None
    marker: str | None
    target_age_ms: float


class ProgramRecord(TypedDict, total=False):
    """The program that made the call: the session, as the server describes it."""

    session_id: str
    cwd: str
    python: str
    script: str | None
    module: str | None
    argv: list[str] | None
    path: list[str] | None


class ReplayOrder(TypedDict, total=False):
    call: CallRecord
    session: ProgramRecord
    url: str
    token: str | None  # not in the environment, which the program can read
    shift: bool  # make the call at another time
    test: bool  # describe a test of it


class ArgumentParts(TypedDict):
    """An argument in a generated test."""

    name: str
    keyword: bool
    value: Expression
    after: Expression


class TestParts(TypedDict, total=False):
    """The parts of a generated test."""

    skip: str  # why there is no test
    form: str  # how the target is called: call, method, operator, builtin…
    function: Expression
    method: str
    symbol: str
    builtin: Expression
    reflected: bool
    target: Expression
    target_name: str
    target_after: Expression
    arguments: list[ArgumentParts]
    awaited: bool
    raises: Expression
    message: str
    result: Expression


class DifferenceMessage(TypedDict):
    of: str
    path: str
    expected: str
    actual: str


class ReplayAnswer(TypedDict, total=False):
    call_id: str
    status: str  # equal, different, or cannot
    reason: str  # why the call cannot be replayed
    function: str
    expected: str
    actual: str
    differences: list[DifferenceMessage]
    key: str  # two runs with the same key had the same outcome
    code_changed_at: float
    connects: bool  # the program turns debugging on
    test: TestParts
    clock: str | None  # what it used of the clock, when observed
    chance: str | None
