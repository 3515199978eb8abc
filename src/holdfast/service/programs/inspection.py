"""Inspects a program: stack, scopes, variables, expressions, threads, tasks, sources."""

from __future__ import annotations

import ast
import os
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, cast

from holdfast import errors
from holdfast.model.breakpoint import build_breakpoint_id
from holdfast.model.session_state import State
from holdfast.model.stop import Described
from holdfast.service.programs import hang_report, outside_answers
from holdfast.service.programs.frame_ids import is_small, to_arguments
from holdfast.service.programs.source_files import is_kernel_path
from holdfast.targets.program.outside_stacks import OutsideStacks
from holdfast.wire.program_answers import (
    CompletionList,
    DeadlockReport,
    Frame,
    Hover,
    ItemPage,
    Module,
    Scope,
    ScopeList,
    SourceText,
    StackPage,
    TaskList,
    Thread,
    ThreadList,
    Variable,
    VariableList,
)

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

_MAX_NAMED = 1_000_000
_DOTTED_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")
_HARMLESS = (
    *(ast.Expression, ast.Name, ast.Attribute, ast.Subscript, ast.Slice, ast.Constant),
    *(ast.Tuple, ast.UnaryOp, ast.USub, ast.expr_context),
)


class Inspection:
    def __init__(self, session: ProgramSession) -> None:
        self._session = session
        self._stops = session.stops

    # -- stack and threads ------------------------------------------------------------------

    async def stack(
        self, thread_id: int | None = None, start: int = 0, count: int | None = None
    ) -> StackPage:
        """A page of a thread's stack, innermost first; of a running thread, as it is now."""
        session = self._session
        target = session.current_target()
        max_depth = session.settings.max_stack_depth
        wanted = max_depth if count is None else min(count, max_depth)
        if thread_id is None and self._stops.current is None:
            return await self._busy_stack(start, wanted)
        thread = self._stops.require().thread_id if thread_id is None else thread_id
        page = await target.operate_or_look("stack", thread=thread, start=start, count=wanted)
        if isinstance(page, OutsideStacks):
            return outside_answers.build_stack(page, thread, start, wanted)
        frames: list[Frame] = page["frames"]
        marks = [frame.pop("mark") for frame in page["frames"]]
        ids = self._stops.assign_frame_ids(thread, start, marks, is_held=page["suspended"])
        for frame_id, frame in zip(ids, frames, strict=True):
            frame["id"] = frame_id
            frame["function"] = frame["name"]
        total = page["total"]
        return StackPage(frames, total, start, start + len(frames) < total, thread)

    async def _busy_stack(self, start: int, count: int) -> StackPage:
        """The stack of the thread that keeps a running program from answering, if one does."""
        if self._session.state is not State.PAUSED and self._session.target is not None:
            seen = await self._session.current_target().operate_or_look("threads")
            if isinstance(seen, OutsideStacks) and seen.threads:
                busy = seen.gil_holder or seen.threads[0]
                return outside_answers.build_stack(seen, busy.id, start, count)
        raise self._session.wrong_state("only a paused program can be looked into")

    async def threads(self) -> ThreadList:
        """Every thread with its state; when a stop holds all of them, all are held."""
        session, threads = self._session, self._stops.threads
        target = session.current_target()
        answer = await target.operate_or_look("threads")
        if isinstance(answer, OutsideStacks):
            return outside_answers.build_threads(answer)
        listed: list[Described] = list(answer["threads"])
        target.note_threads(listed)
        threads.seen.update(thread["id"] for thread in listed if thread["status"] == "paused")
        stop = self._stops.current
        if session.state is State.PAUSED and stop and stop.all_threads_stopped:
            for thread in listed:
                if thread["status"] != "paused" and thread["id"] not in threads.released:
                    thread.update(status="paused", blocked=True)
        return ThreadList([_build_thread(thread) for thread in listed])

    async def require_thread(self, thread_id: int) -> list[Described]:
        """All threads as the debugger lists them, of which this must be one."""
        answer = await self._session.current_target().operate_or_look("threads")
        listed: list[Described] = (
            outside_answers.describe_threads(answer)
            if isinstance(answer, OutsideStacks)
            else answer["threads"]
        )
        if not any(thread["id"] == thread_id for thread in listed):
            known = [thread["id"] for thread in listed]
            raise errors.ThreadNotFound(f"no thread {thread_id}", thread_id=thread_id, known=known)
        return listed

    async def require_running_thread(self, thread_id: int) -> None:
        """Raise unless this thread runs: one that was let go, or was never held."""
        await self.require_thread(thread_id)
        listed = (await self.threads()).threads
        if any(t["thread_id"] == thread_id and t["status"] == "paused" for t in listed):
            raise self._session.wrong_state(f"thread {thread_id} is held already")

    async def deadlocks(self) -> DeadlockReport:
        """What each thread and task waits for, who holds it, and the circles in that."""
        answer = await self._session.current_target().operate_or_look("deadlocks")
        if isinstance(answer, OutsideStacks):
            return outside_answers.build_deadlocks(answer)
        return hang_report.build_report(answer)

    async def tasks(self) -> TaskList:
        """The asyncio tasks: where each is, and what it waits for."""
        answer = await self._session.current_target().operate("tasks")
        tasks = list(answer["tasks"])
        return TaskList(tasks, len(tasks))

    # -- variables --------------------------------------------------------------------------

    async def scopes(self, frame_id: int) -> ScopeList:
        """The scopes of a frame: Locals and Globals."""
        place = self._stops.find_frame(frame_id)
        target = self._session.current_target()
        answer = await target.operate("scopes", **to_arguments(place))
        scopes: list[Scope] = answer["scopes"]
        for scope in scopes:
            scope["variable_reference"] = scope["reference"]
        return ScopeList(scopes)

    async def locals(
        self,
        frame_id: int = 0,
        *,
        start: int = 0,
        count: int = 1000,
        summary: bool = False,
        max_chars: int | None = None,
    ) -> VariableList:
        """A page of a frame's locals; those of the top frame came with the stop."""
        place = self._stops.find_frame(frame_id)
        stop = self._stops.current
        is_usual = not summary and max_chars is None
        if frame_id == 0 and is_usual and stop is not None and stop.locals:
            last = min(start + count, stop.locals_total)
            if last <= len(stop.locals):
                variables = cast(list[Variable], list(stop.locals[start:last]))
                return VariableList(variables, stop.locals_total, last < stop.locals_total)
        answer = await self._session.current_target().operate(
            "locals",
            **to_arguments(place),
            start=start,
            count=count,
            summary=summary,
            max_chars=max_chars,
        )
        variables, total = list(answer["variables"]), answer["total"]
        return VariableList(variables, total, start + len(variables) < total)

    async def scope_variables(
        self,
        reference: int,
        start: int = 0,
        count: int = 1000,
        *,
        summary: bool = False,
        max_chars: int | None = None,
    ) -> VariableList:
        """A page of the variables of a scope."""
        page = await self.items(reference, start, count, summary=summary, max_chars=max_chars)
        return VariableList(page.items, page.total, page.has_more)

    async def items(
        self,
        reference: int,
        start: int = 0,
        count: int | None = None,
        *,
        summary: bool = False,
        max_chars: int | None = None,
        part: str | None = None,
    ) -> ItemPage:
        """What a reference holds: one page of a value's children, of a scope, or of a text.

        `part` chooses among the children: `indexed` items, or `named` attributes.
        """
        if self._stops.frame_ids.is_empty:  # else it may belong to a frame of another thread
            self._stops.require()
        page = await self._session.current_target().operate(
            "variables",
            reference=reference,
            start=start,
            count=count,
            summary=summary,
            max_chars=max_chars,
            part=part,
        )
        return ItemPage(page["items"], page["total"], page["has_more"], start, reference)

    async def frame_items(
        self,
        frame_id: int,
        reference: str,
        start: int = 0,
        count: int | None = None,
        *,
        max_chars: int | None = None,
    ) -> ItemPage:
        """The same; a local of the frame may also be named."""
        if reference.isdecimal():
            self._stops.find_frame(frame_id)
            return await self.items(int(reference), start, count, max_chars=max_chars)
        page = await self.locals(frame_id, count=_MAX_NAMED, summary=True)
        for variable in page.variables:
            if variable["name"] == reference:
                if not variable["variable_reference"]:
                    return ItemPage([], 0, False, start)
                return await self.items(
                    variable["variable_reference"], start, count, max_chars=max_chars
                )
        raise errors.ReferenceNotFound(
            f"no local {reference!r} in frame {frame_id}", name=reference
        )

    async def set_variable(
        self, reference: int, name: str, value: str, timeout: float | None = None
    ) -> Variable:
        """Give a variable of a scope, or a part of a value, a new value."""
        session = self._session
        target = session.live_target("evaluate")
        try:
            ast.parse(value.strip(), mode="eval")
        except (SyntaxError, ValueError) as problem:
            raise errors.AssignmentFailed(
                f"the value is not an expression: {problem}", field="value", value=value
            ) from None
        self.forget_values()
        answer = await target.execute(
            "assign",
            timeout or session.evaluate_timeout,
            reference=reference,
            name=name,
            value=value.strip(),
        )
        session.event("variable_set", name=name, value=answer.get("value"))
        return cast(Variable, answer)

    def forget_values(self) -> None:
        """Forget what was read at the stop, because the user's code may change it."""
        self._stops.forget_values()
        self._session.watches.forget_values()

    # -- expressions ------------------------------------------------------------------------

    async def evaluate(
        self,
        expression: str,
        frame_id: int = 0,
        context: str | None = None,
        timeout: float | None = None,
        *,
        max_chars: int | None = None,
        start: int | None = None,
        count: int | None = None,
    ) -> Variable:
        """The value of an expression in a frame; in a REPL, a statement may be run.

        A text may be read in parts, by `start` and `count`.
        """
        session = self._session
        if is_small(frame_id):
            session.require("evaluate")
        target = session.current_target()
        place = self._stops.find_frame(frame_id)
        self.forget_values()
        answer = await target.execute(
            "evaluate",
            timeout or session.evaluate_timeout,
            **to_arguments(place),
            expression=expression,
            context=context,
            max_chars=max_chars,
            start=start,
            count=count,
        )
        return cast(Variable, answer)

    async def evaluate_watches(
        self, expressions: Sequence[str], seconds: float
    ) -> list[dict[str, Any]]:
        """The value of each in the top frame, or its `error`; those that had no time say so."""
        target = self._session.live_target("evaluate")
        thread = self._stops.require().thread_id
        if any(map(_may_change_values, expressions)):
            self._stops.forget_values()
        return await target.evaluate_watches(thread, expressions, seconds)

    async def hover(self, expression: str, frame_id: int = 0) -> Hover:
        """A value without side effects: names, attributes and items only, nothing that calls."""
        try:
            is_harmless = _is_harmless(expression)
        except (SyntaxError, ValueError) as problem:
            raise errors.InvalidInput(
                f"not an expression: {problem}", field="expression", expression=expression
            ) from None
        if not is_harmless:
            raise errors.InvalidInput(
                "hover takes names, attributes and items only: it calls and consumes nothing",
                hint="Use POST /evaluate for other expressions.",
                field="expression",
            )
        variable = await self.evaluate(expression, frame_id, "hover")
        return {**variable, "expression": expression, "value": variable["result"]}

    async def hover_at(
        self, line: int, column: int, file: str | None = None, frame_id: int = 0
    ) -> Hover:
        """The same, for the name at a line and column."""
        file = file or (await self._frame_place(frame_id))[0]
        lines = (await self._source_text(file)).splitlines()
        text = lines[line - 1] if line <= len(lines) else ""
        for match in _DOTTED_NAME.finditer(text):
            if match.start() < column <= match.end():
                dot = text.find(".", column - 1, match.end())
                end = dot if dot != -1 else match.end()
                return await self.hover(text[match.start() : end], frame_id)
        raise errors.InvalidInput(
            f"nothing to look at in line {line}, column {column}", field="column", text=text
        )

    async def completions(self, text: str, frame_id: int = 0) -> CompletionList:
        """What can follow the text, in a frame."""
        session = self._session
        target = session.live_target("evaluate")
        place = self._stops.find_frame(frame_id)
        answer = await target.execute(
            "completions", session.evaluate_timeout, **to_arguments(place), text=text
        )
        targets = list(answer["targets"])
        return CompletionList(targets, [target["label"] for target in targets])

    # -- modules and exceptions -------------------------------------------------------------

    async def modules(self) -> list[Module]:
        """The modules that the program has imported, in that order."""
        answer = await self._session.current_target().operate("modules")
        return list(answer["modules"])

    async def exception(self, thread_id: int) -> Described:
        """The exception that a thread is stopped at: its frames, and what led to it."""
        self._stops.find_thread(thread_id)
        answer: Described = await self._session.current_target().operate(
            "exception", thread=thread_id
        )
        for frame in answer.get("frames") or ():
            text = self._session.programs.sources.line(frame["file"], frame["line"])
            if text is not None:
                frame["text"] = text
        return answer

    # -- source -----------------------------------------------------------------------------

    async def source(
        self,
        path: str | None = None,
        frame_id: int | None = None,
        start: int | None = None,
        count: int | None = None,
    ) -> SourceText:
        """The source of a file, or of a frame: from our disk, or from the target."""
        if (path is None) == (frame_id is None):
            raise errors.InvalidInput("give path or frame_id", field="path")
        line = None
        if frame_id is not None:
            path, line = await self._frame_place(frame_id)
        assert path is not None
        if not path.startswith("<"):  # a name like <string> is no path
            base = self._session.breakpoints.points.base
            path = os.path.normpath(os.path.join(base, os.path.expanduser(path)))
            if is_kernel_path(path):
                raise errors.SourceNotFound(
                    f"{path} is not served: it leads below /proc, /sys or /dev",
                    hint="Ask for a source file.",
                    path=path,
                )
        lines = (await self._source_text(path)).splitlines(keepends=True)
        first = start or 1
        part = lines[first - 1 : None if count is None else first - 1 + count]
        answer = SourceText(path, path, "".join(part), first, len(lines))
        if line is not None:
            answer.line = line
        if self._session.programs.sources.get(path) is not None:
            last = first + len(part) - 1
            answer.executable_lines = self._session.breakpoints.list_lines(path, first, last)
        return answer

    async def _source_text(self, path: str) -> str:
        session = self._session
        source = session.programs.sources.get(path)
        if source is not None:
            return "\n".join(source.text) + ("\n" if source.text else "")
        if session.target is not None and not session.over:
            answer = await session.target.operate("source", path=path)
            return str(answer["text"])
        raise errors.SourceNotFound(f"no readable source {path}", path=path)

    async def _frame_place(self, frame_id: int) -> tuple[str, int]:
        place = self._stops.find_frame(frame_id)
        target = self._session.current_target()
        page: dict[str, Any] = await target.operate(
            "stack", thread=place.thread, start=place.depth, count=1
        )
        if not page["frames"] or place.mark not in (None, page["frames"][0]["mark"]):
            raise errors.FrameNotFound(f"no frame {frame_id} any more", frame_id=frame_id)
        return str(page["frames"][0]["file"]), int(page["frames"][0]["line"])


def _is_harmless(expression: str) -> bool:
    """Whether it has names, attributes and items only: it calls and consumes nothing."""
    tree = ast.parse(expression.strip(), mode="eval")
    return all(isinstance(node, _HARMLESS) for node in ast.walk(tree))


def _may_change_values(expression: str) -> bool:
    try:
        return not _is_harmless(expression)
    except (SyntaxError, ValueError):
        return False  # it is refused in the program


def _build_thread(listed: Described) -> Thread:
    thread = {"thread_id": listed["id"], **listed}
    thread.pop("ident", None)
    points = thread.pop("breakpoints", None)
    if points:
        thread["breakpoint_id"] = build_breakpoint_id(points[0])
    return cast(Thread, thread)
