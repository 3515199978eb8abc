"""Looking: stack, scopes, variables, expressions, threads, tasks, sources."""

from __future__ import annotations

import ast
import contextlib
import dataclasses
from dataclasses import dataclass
from typing import Any

from holdfast import errors
from holdfast.core import lifecycle
from holdfast.model.session import State
from holdfast.service.programs.program_session import ProgramSession

Described = dict[str, Any]


@dataclass(frozen=True)
class Page:
    items: list[Described]
    start: int
    total: int

    @property
    def has_more(self) -> bool:
        return self.start + len(self.items) < self.total


@dataclass(frozen=True)
class StackPage:
    frames: list[Described]
    start: int
    total: int
    thread_id: int

    @property
    def has_more(self) -> bool:
        return self.start + len(self.frames) < self.total


async def stack(
    session: ProgramSession, thread: int | None, start: int, count: int | None
) -> StackPage:
    """A page of a thread's stack, top first. A thread that runs has a stack too, for a moment."""
    target = session.current_target()
    if thread is None:
        thread = _held(session).thread_id
    most = session.settings.max_stack_depth
    wanted = most if count is None else min(count, most)
    page = await target.operate("stack", thread=thread, start=start, count=wanted)
    frames = [
        {"id": session.frame_id(thread, start + depth), **frame}
        for depth, frame in enumerate(page["frames"])
    ]
    return StackPage(frames, start, page["total"], thread)


def _held(session: ProgramSession) -> Any:
    if session.stop is None:
        raise lifecycle.not_now(session.state, "only a paused program can be looked into")
    return session.stop


async def scopes(session: ProgramSession, frame_id: int) -> list[Described]:
    thread, depth = session.frame(frame_id)
    answer = await session.current_target().operate("scopes", thread=thread, depth=depth)
    return list(answer["scopes"])


async def frame_variables(
    session: ProgramSession,
    frame_id: int,
    *,
    start: int = 0,
    count: int = 1000,
    summary: bool = False,
) -> Page:
    """A page of a frame's locals; those of the top frame came with the stop."""
    thread, depth = session.frame(frame_id)
    stop = session.stop
    if frame_id == 0 and not summary and stop is not None and stop.locals:
        last = min(start + count, stop.locals_total)
        if last <= len(stop.locals):
            return Page(list(stop.locals[start:last]), start, stop.locals_total)
    answer = await session.current_target().operate(
        "locals", thread=thread, depth=depth, start=start, count=count, summary=summary
    )
    return Page(list(answer["variables"]), start, answer["total"])


def _about_to_execute(session: ProgramSession) -> None:
    """The user's code may change anything: what came with the stop is not to be shown again."""
    if session.stop is not None:
        session.stop = dataclasses.replace(session.stop, locals=(), locals_total=0)


async def count_hits(session: ProgramSession) -> None:
    """Ask how often each breakpoint was hit; a program that just ended has told already."""
    if session.target is not None and not session.over:
        with contextlib.suppress(errors.HoldfastError):
            session.counted(await session.target.operate("hits"))


async def variables(
    session: ProgramSession, reference: int, start: int, count: int, *, summary: bool = False
) -> dict[str, Any]:
    """What a reference holds: one page of a value's children, or of a scope."""
    _held(session)
    answer: dict[str, Any] = await session.current_target().operate(
        "variables", reference=reference, start=start, count=count, summary=summary
    )
    return answer


async def evaluate(
    session: ProgramSession,
    expression: str,
    frame_id: int,
    context: str | None,
    timeout: float | None,
) -> Described:
    target = session.live_target("evaluate")
    thread, depth = session.frame(frame_id)
    _about_to_execute(session)
    return await target.execute(
        "evaluate",
        timeout or session.evaluate_timeout,
        thread=thread,
        depth=depth,
        expression=expression,
        context=context,
    )


_HARMLESS = (
    *(ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant),
    *(ast.Tuple, ast.UnaryOp, ast.USub, ast.expr_context),
)


async def hover(session: ProgramSession, expression: str, frame_id: int) -> Described:
    """A value without side effects: names, attributes and items only, nothing that calls."""
    try:
        tree = ast.parse(expression.strip(), mode="eval")
    except (SyntaxError, ValueError) as problem:
        raise errors.InvalidInput(
            f"not an expression: {problem}", field="expression", expression=expression
        ) from None
    if not all(isinstance(node, _HARMLESS) for node in ast.walk(tree)):
        raise errors.InvalidInput(
            "hover takes names, attributes and items only: it calls and consumes nothing",
            hint="Use POST /evaluate for other expressions.",
            field="expression",
        )
    return await evaluate(session, expression, frame_id, "hover", None)


async def set_variable(
    session: ProgramSession, reference: int, name: str, value: str, timeout: float | None
) -> Described:
    target = session.live_target("evaluate")
    try:
        ast.parse(value.strip(), mode="eval")
    except (SyntaxError, ValueError) as problem:
        raise errors.AssignmentFailed(
            f"the value is not an expression: {problem}", field="value", value=value
        ) from None
    _about_to_execute(session)
    return await target.execute(
        "assign",
        timeout or session.evaluate_timeout,
        reference=reference,
        name=name,
        value=value.strip(),
    )


async def completions(session: ProgramSession, text: str, frame_id: int) -> list[Described]:
    target = session.live_target("evaluate")
    thread, depth = session.frame(frame_id)
    answer = await target.execute(
        "completions", session.evaluate_timeout, thread=thread, depth=depth, text=text
    )
    return list(answer["targets"])


async def threads(session: ProgramSession) -> list[Described]:
    """Every thread with its state; when a stop holds all of them, all are held."""
    answer = await session.current_target().operate("threads")
    listed = list(answer["threads"])
    session.standing.seen.update(each["id"] for each in listed if each["status"] == "paused")
    if session.state is State.PAUSED and session.stop and session.stop.all_threads_stopped:
        for each in listed:
            if each["status"] != "paused" and each["id"] not in session.standing.released:
                each.update(status="paused", blocked=True)
    return listed


async def tasks(session: ProgramSession) -> list[Described]:
    answer = await session.current_target().operate("tasks")
    return list(answer["tasks"])


async def source(session: ProgramSession, path: str) -> str:
    """A source as the target has it; our disk may hold it, or only the target does."""
    found = session.sources.get(path)
    if found is not None:
        return "\n".join(found.text) + ("\n" if found.text else "")
    if session.target is not None and not session.over:
        answer = await session.target.operate("source", path=path)
        return str(answer["text"])
    raise errors.SourceNotFound(f"no readable source {path}", path=path)


async def frame_path(session: ProgramSession, frame_id: int) -> tuple[str, int]:
    thread, depth = session.frame(frame_id)
    page = await session.current_target().operate("stack", thread=thread, start=depth, count=1)
    if not page["frames"]:
        raise errors.FrameNotFound(f"no frame {frame_id}", frame_id=frame_id)
    return str(page["frames"][0]["file"]), int(page["frames"][0]["line"])
