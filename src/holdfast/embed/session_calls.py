"""What an adapter's calls do with its session. They run on the adapter's loop.

Requests are checked by the same structs as those of the HTTP face, and the answers have the same
names. Waiting has no upper limit here, because the caller has the Future to give up on.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import msgspec

from holdfast import errors
from holdfast.embed.loop_calls import NOT_RUNNING
from holdfast.embed.results import (
    EvaluationResult,
    Output,
    ProgramState,
    Stack,
    ThreadsResult,
    Variables,
)
from holdfast.model.session_state import State
from holdfast.server.request_parser import convert
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.run_options import RunOptions
from holdfast.service.tools.time_limit import TimeLimit
from holdfast.wire.program_requests import AttachRequest, LaunchRequest, RestartRequest
from holdfast.wire.session_requests import Evaluate

OWNER = "controller"
"""Who decides, and whose the breakpoints are, as the other clients of the session see it."""
STEPS = {"over": "step-over", "into": "step-into", "out": "step-out"}
_FUNCTION_BREAKPOINT = "function breakpoint"
_ROUND_SECONDS = 60.0
_MAX_ENTRIES = 100_000

Wait = float | bool | None
"""Seconds, True (as long as it takes), or None and False (not at all)."""


def _limit_time(seconds: float | None) -> TimeLimit:
    """None: there is no limit."""
    if seconds is None:
        return TimeLimit(math.inf)
    _check_seconds(seconds)
    return TimeLimit(seconds)


def _check_seconds(seconds: object) -> None:
    if isinstance(seconds, bool) or not isinstance(seconds, (int, float)):
        raise TypeError(f"give seconds as a number, not {type(seconds).__name__}")
    if math.isnan(seconds) or seconds < 0:
        raise ValueError(f"a timeout must be 0 or more, not {seconds}")


def check_wait(wait: Wait) -> None:
    """Refuse a wrong one before the program runs, because it could not be taken back."""
    if wait is not None and not isinstance(wait, bool):
        _check_seconds(wait)


# -- start and end --------------------------------------------------------------------------------


async def launch(session: ProgramSession, fields: Mapping[str, Any], wait: Wait) -> ProgramState:
    with _noting_refusal(session):
        check_wait(wait)
        request = convert(dict(fields), LaunchRequest)
    request.note_given(fields)
    options = RunOptions(by=OWNER)
    answer = await session.start(request.to_start(), options, request.to_preparation())
    return await _answer_after_run(session, answer, wait)


async def attach(session: ProgramSession, fields: Mapping[str, Any], wait: Wait) -> ProgramState:
    with _noting_refusal(session):
        check_wait(wait)
        request = convert(dict(fields), AttachRequest)
    options = RunOptions(by=OWNER)
    answer = await session.start(request.to_attach(), options, request.to_preparation())
    return await _answer_after_run(session, answer, wait)


async def restart(session: ProgramSession, fields: Mapping[str, Any], wait: Wait) -> ProgramState:
    with _noting_refusal(session):
        check_wait(wait)
        changes = convert(dict(fields), RestartRequest).changes()
    answer = await session.restart(changes, RunOptions(by=OWNER))
    return await _answer_after_run(session, answer, wait)


async def refuse_start(session: ProgramSession, problem: Exception) -> ProgramState:
    """A start that cannot even be asked for."""
    with _noting_refusal(session):
        raise problem


@contextlib.contextmanager
def _noting_refusal(session: ProgramSession) -> Iterator[None]:
    """Let those who wait for the program hear of it, too."""
    try:
        yield
    except (TypeError, ValueError, errors.HoldfastError) as problem:
        session.start_problem = problem
        raise


async def terminate(session: ProgramSession) -> ProgramState:
    return build_state(session, await session.terminate(by=OWNER))


async def detach(session: ProgramSession) -> ProgramState:
    return build_state(session, await session.detach())


# -- run ------------------------------------------------------------------------------------------


async def resume(session: ProgramSession, wait: Wait) -> ProgramState:
    check_wait(wait)
    answer = await session.resume(RunOptions(by=OWNER, wait=False))
    return await _answer_after_run(session, answer, wait)


async def run_until(
    session: ProgramSession, expression: str, frame_id: int, wait: Wait
) -> ProgramState:
    check_wait(wait)
    options = RunOptions(by=OWNER, wait=False)
    answer = await session.resume_until(expression, frame_id, options)
    if answer.status == State.PAUSED.value:  # it is true already
        return build_state(session, answer)
    return await _answer_after_run(session, answer, wait)


async def step(session: ProgramSession, kind: str, thread_id: int | None) -> ProgramState:
    """Step, and wait for the stop after it, or the end."""
    options = RunOptions(by=OWNER, wait=True, thread_id=thread_id)
    answer = await session.step(_find_step(kind), options)
    if answer.status == State.RUNNING.value:
        return await _answer_after_run(session, answer, True)
    return build_state(session, answer)


def _find_step(kind: str) -> str:
    try:
        return STEPS[kind]
    except (KeyError, TypeError):
        raise ValueError(f"a step goes {', '.join(STEPS)}, not {kind!r}") from None


async def pause(session: ProgramSession, thread_id: int | None, wait: Wait) -> ProgramState:
    answer = await session.pause(RunOptions(by=OWNER, wait=wait, thread_id=thread_id))
    return build_state(session, answer)


# -- wait -----------------------------------------------------------------------------------------


async def wait_for_stop(
    session: ProgramSession, timeout: float | None, include: Sequence[str] | None = None
) -> ProgramState:
    limit = _limit_time(timeout)
    await _wait_for_start(session, limit)
    while True:
        _require_open(session)
        if await session.wait_until_settled(min(_ROUND_SECONDS, limit.left)):
            return await read_state(session, include)
        if limit.is_over:
            raise _timed_out(session, f"no stop within {timeout} s")


async def wait_for_end(session: ProgramSession, timeout: float | None) -> ProgramState:
    limit = _limit_time(timeout)
    await _wait_for_start(session, limit)
    await _wait_until(session, lambda: session.over, limit, f"no end within {timeout} s")
    return await read_state(session)


async def _wait_for_start(session: ProgramSession, limit: TimeLimit) -> None:
    """Wait until a program was started: one that is being started, or, if none is, the first one.

    An editor may be the one who starts it. If the last start came to nothing, that is raised."""
    if session.busy.locked():
        try:
            await asyncio.wait_for(_pass_lock(session.busy), _finite(limit.left))
        except asyncio.TimeoutError:
            raise _timed_out(session, "the program has not started yet") from None
    problem = session.start_problem
    if problem is not None:
        raise session.wrong_state(f"the program could not be started: {problem}") from problem
    await _wait_until(
        session, lambda: session.state is not State.CREATED, limit, "no program was started"
    )


async def _pass_lock(lock: asyncio.Lock) -> None:
    async with lock:
        pass


async def _wait_until(
    session: ProgramSession, reached: Callable[[], bool], limit: TimeLimit, complaint: str
) -> None:
    while not reached():
        _require_open(session)
        await session.wait_until(reached, min(_ROUND_SECONDS, limit.left))
        if not reached() and limit.is_over:
            raise _timed_out(session, complaint)


def _require_open(session: ProgramSession) -> None:
    if session.stopping:
        raise RuntimeError(NOT_RUNNING)


def _finite(seconds: float) -> float | None:
    return None if math.isinf(seconds) else seconds


def _timed_out(session: ProgramSession, complaint: str) -> TimeoutError:
    return TimeoutError(f"{complaint}; the session is {session.state.value}")


async def _answer_after_run(session: ProgramSession, answer: Any, wait: Wait) -> ProgramState:
    """The answer to what made the program run; with `wait`, its next stop or its end."""
    if wait is None or wait is False:
        return build_state(session, answer)
    try:
        return await wait_for_stop(session, None if wait is True else wait)
    except TimeoutError:  # it is said to run, as over REST
        return await read_state(session)


# -- look -----------------------------------------------------------------------------------------


async def read_state(session: ProgramSession, include: Sequence[str] | None = None) -> ProgramState:
    """Where the program is; at a stop with its source and locals, or what else is asked for."""
    names = ("source", "locals") if include is None else tuple(include)
    return build_state(session, await session.status(RunOptions(by=OWNER, include=names)))


def build_state(session: ProgramSession, answer: msgspec.Struct) -> ProgramState:
    """The answer as a dict. Unlike REST, it tells stops at functions from those at lines."""
    state = cast(ProgramState, msgspec.to_builtins(answer))
    stop = session.stops.current if state["status"] == State.PAUSED.value else None
    if stop is not None and stop.reason == _FUNCTION_BREAKPOINT:
        state["reason"] = stop.reason
    return state


async def stack(
    session: ProgramSession, thread_id: int | None, start: int, count: int | None
) -> Stack:
    page = await session.inspection.stack(thread_id, start, count)
    return cast(Stack, msgspec.to_builtins(page))


async def threads(session: ProgramSession) -> ThreadsResult:
    return cast(ThreadsResult, msgspec.to_builtins(await session.inspection.threads()))


async def read_locals(session: ProgramSession, frame_id: int, start: int, count: int) -> Variables:
    page = await session.inspection.locals(frame_id, start=start, count=count)
    return cast(Variables, msgspec.to_builtins(page))


async def read_items(session: ProgramSession, reference: int, start: int, count: int) -> Variables:
    page = await session.inspection.scope_variables(reference, start, count)
    return cast(Variables, msgspec.to_builtins(page))


async def evaluate(session: ProgramSession, fields: Mapping[str, Any]) -> EvaluationResult:
    return cast(
        EvaluationResult,
        msgspec.to_builtins(await session.evaluate(convert(dict(fields), Evaluate))),
    )


async def set_variable(
    session: ProgramSession, name: str, value: str, frame_id: int, reference: int | None
) -> EvaluationResult:
    """Give a variable a new value: a local of a frame, or with `reference` a part of a value."""
    if not isinstance(name, str) or not isinstance(value, str):
        raise TypeError("give the name and the value as text; the value is a Python expression")
    if reference is None:
        scopes = (await session.inspection.scopes(frame_id)).scopes
        reference = scopes[0]["variable_reference"]
    answer = await session.inspection.set_variable(reference, name, value)
    return cast(EvaluationResult, msgspec.to_builtins(answer))


# -- output and input -----------------------------------------------------------------------------


async def read_output(
    session: ProgramSession, since: int | str, kinds: Iterable[str] | None
) -> Output:
    chosen = None if kinds is None else frozenset(kinds)
    page = msgspec.to_builtins(await session.read_output(int(since), _MAX_ENTRIES, chosen))
    page["text"] = "".join(entry["text"] for entry in page["outputs"])
    return cast(Output, page)


async def send_input(session: ProgramSession, text: str, *, close: bool) -> ProgramState:
    if not isinstance(text, str):
        raise TypeError(f"input must be text, not {type(text).__name__}")
    answer = await session.send_input(text, close=close, options=RunOptions(by=OWNER))
    return build_state(session, answer)
