"""Sets breakpoints of every kind in a session that lives in another thread."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Iterable, Sequence
from concurrent.futures import Future
from os import PathLike
from typing import Any, TypeVar, cast

import msgspec

from holdfast.embed.breakpoint_listeners import (
    BreakpointListeners,
    BreakpointWatcher,
    Callback,
    build_result,
)
from holdfast.embed.breakpoint_specs import (
    DataBreakpointSpec,
    Fields,
    FunctionBreakpointSpec,
    LineBreakpointSpec,
    check_specs,
    describe_data,
    describe_function,
    describe_line,
    resolve_path,
)
from holdfast.embed.loop_calls import LoopCalls, awaitable
from holdfast.embed.results import BreakpointResult, DataInfo
from holdfast.embed.session_calls import OWNER
from holdfast.embed.session_link import NO_SESSION, SessionLink
from holdfast.model.breakpoint import Breakpoint, ExceptionFilters
from holdfast.service.programs.program_session import ProgramSession
from holdfast.service.programs.session_breakpoints import SessionBreakpoints
from holdfast.wire.program_answers import BreakpointAnswer

T = TypeVar("T")
Path = str | PathLike[str]
_KEPT = ("line", "condition", "hit_condition", "log_message")


class BreakpointController:
    """The breakpoints of one session, from any thread.

    Each `set_…` replaces what this controller has set of that kind (of lines: in that file); an
    empty list clears it. What REST clients or editors have set stays. All methods return a Future
    at once, and can be called before a program is launched: what they set is applied when it
    starts. Calls take effect in the order in which they reach the adapter, so the last one wins.
    A mistake is raised by the Future; a breakpoint that cannot fire is answered with
    `verified: False` and a `message`. The methods `async_…` are the same, to be awaited in any
    event loop.

    `debugger` is a program session, or its breakpoints, which lives in `loop`.
    """

    def __init__(
        self,
        loop: asyncio.AbstractEventLoop | None,
        debugger: ProgramSession | SessionBreakpoints | None,
    ) -> None:
        self._listeners = BreakpointListeners()
        self._watcher: Callable[[], None] | None = None
        self._link = NO_SESSION
        if loop is not None and debugger is not None:
            is_registry = isinstance(debugger, SessionBreakpoints)
            session = debugger.session if is_registry else debugger  # type: ignore[union-attr]
            self._link = SessionLink(LoopCalls(loop), cast(ProgramSession, session))

    # -- lines ------------------------------------------------------------------------------

    def set_source(
        self, path: Path, breakpoints: Iterable[LineBreakpointSpec]
    ) -> Future[list[BreakpointResult]]:
        """Replace the line breakpoints of a file. Its path is relative to the current directory."""
        try:
            file = resolve_path(path)
            specs = list(map(describe_line, check_specs(breakpoints, LineBreakpointSpec)))
        except (TypeError, ValueError) as problem:
            return self._link.calls.fail(problem)
        return self._submit(lambda registry: _replace_lines(registry, file, specs))

    def add_source(self, path: Path, breakpoint_: LineBreakpointSpec) -> Future[BreakpointResult]:
        """Add one line breakpoint to those of a file."""
        try:
            file = resolve_path(path)
            (spec,) = map(describe_line, check_specs([breakpoint_], LineBreakpointSpec))
        except (TypeError, ValueError) as problem:
            return self._link.calls.fail(problem)
        return self._submit(lambda registry: _add_line(registry, file, spec))

    # -- functions, exceptions, values ------------------------------------------------------

    def set_function(
        self, breakpoints: Iterable[FunctionBreakpointSpec]
    ) -> Future[list[BreakpointResult]]:
        """Replace the function breakpoints."""
        try:
            specs = list(map(describe_function, check_specs(breakpoints, FunctionBreakpointSpec)))
        except (TypeError, ValueError) as problem:
            return self._link.calls.fail(problem)
        return self._submit(lambda registry: _replace_functions(registry, specs))

    def set_exception(
        self, filters: Iterable[str], types: Iterable[str] = ()
    ) -> Future[list[BreakpointResult]]:
        """Choose which exceptions stop: `raised`, `uncaught`, `userUnhandled`.

        With `types`, only those of these classes. The answer has an entry for each filter."""
        try:
            names, classes = _check_names(filters, "filters"), _check_names(types, "types")
        except TypeError as problem:
            return self._link.calls.fail(problem)
        return self._submit(lambda registry: _replace_exceptions(registry, names, classes))

    def data_info(
        self, name: str, frame_id: int = 0, *, reference: int | None = None
    ) -> Future[DataInfo]:
        """Whether a variable or an expression of a frame can be watched, and its `dataId`.

        The program must be paused. With `reference`, the name is that of a part of that value."""
        if not isinstance(name, str) or not name.strip():
            return self._link.calls.fail(TypeError("give the name or the expression as text"))
        if not isinstance(frame_id, int):
            return self._link.calls.fail(TypeError("frame_id must be a number"))
        return self._submit(lambda registry: _find_data(registry, name, frame_id, reference))

    def set_data(self, breakpoints: Iterable[DataBreakpointSpec]) -> Future[list[BreakpointResult]]:
        """Replace the data breakpoints."""
        try:
            specs = list(map(describe_data, check_specs(breakpoints, DataBreakpointSpec)))
        except (TypeError, ValueError) as problem:
            return self._link.calls.fail(problem)
        return self._submit(lambda registry: _replace_data(registry, specs))

    # -- all of them ------------------------------------------------------------------------

    def list_all(self) -> Future[list[BreakpointResult]]:
        """Every breakpoint of the session, whoever set it, with how often it was hit."""
        return self._submit(_list_all)

    def clear_all(self) -> Future[int]:
        """Remove every breakpoint of the session, whoever set it, and every exception filter.

        The answer is how many breakpoints there were."""
        return self._submit(_clear_all)

    def on_breakpoint(self, callback: Callback) -> Callable[[], None]:
        """Call `callback` with a `BreakpointEvent` whenever anybody sets, changes or removes one.

        It is called in a thread of its own, in order, and may wait for Futures there. If it raises,
        that is logged. It stays across a restart of the adapter. The function that is returned ends
        it."""
        remove = self._listeners.add(callback)
        if self._watcher is None and self._link.session is not None:
            self._submit(self._watch)
        return remove

    # -- the same, to be awaited ------------------------------------------------------------

    async_set_source = awaitable(set_source)
    async_add_source = awaitable(add_source)
    async_set_function = awaitable(set_function)
    async_set_exception = awaitable(set_exception)
    async_data_info = awaitable(data_info)
    async_set_data = awaitable(set_data)
    async_list_all = awaitable(list_all)
    async_clear_all = awaitable(clear_all)

    # -- for the adapter --------------------------------------------------------------------

    def connect(self, link: SessionLink) -> None:
        """Use this session from now on. Called in its loop."""
        assert link.session is not None
        self._watcher = link.session.observe(
            BreakpointWatcher(link.session.breakpoints, self._listeners)
        )
        self._link = link

    def disconnect(self) -> None:
        self._link = NO_SESSION
        self._watcher = None
        self._listeners.close()

    def forget_thread(self) -> None:
        """This is a fork of the process, which has none of its threads."""
        self._listeners.forget_thread()

    # -- how it is done ---------------------------------------------------------------------

    def _schedule(self, work: Coroutine[Any, Any, T]) -> Future[T]:
        """Run a coroutine on the loop of the session."""
        return self._link.calls.submit(work)

    def _submit(self, work: Callable[[SessionBreakpoints], Coroutine[Any, Any, T]]) -> Future[T]:
        return self._link.submit(lambda session: work(session.breakpoints))

    async def _watch(self, registry: SessionBreakpoints) -> None:
        session = self._link.session
        if self._watcher is None and session is not None:
            self._watcher = session.observe(BreakpointWatcher(registry, self._listeners))


# -- in the loop of the session -------------------------------------------------------------------


async def _replace_lines(
    registry: SessionBreakpoints, file: str, specs: Sequence[Fields]
) -> list[BreakpointResult]:
    return _build_results(await registry.replace_lines(OWNER, file, specs))


async def _add_line(registry: SessionBreakpoints, file: str, spec: Fields) -> BreakpointResult:
    """Nothing waits between the reading of those that are there and their replacement."""
    path = registry.points.locate(file)
    owns = registry.points.owners.owns
    there = [
        _describe_point(point)
        for point in registry.points
        if point.kind == "line" and point.file == path and owns(OWNER, point.id)
    ]
    answers = await registry.replace_lines(OWNER, file, [*there, spec])
    return _build_results(answers)[-1]


def _describe_point(point: Breakpoint) -> Fields:
    fields = {name: getattr(point, name) for name in _KEPT}
    return {name: value for name, value in fields.items() if value is not None}


async def _replace_functions(
    registry: SessionBreakpoints, specs: Sequence[Fields]
) -> list[BreakpointResult]:
    return _build_results(await registry.replace_functions(OWNER, specs))


async def _replace_data(
    registry: SessionBreakpoints, specs: Sequence[Fields]
) -> list[BreakpointResult]:
    return _build_results(await registry.replace_data(OWNER, specs))


async def _replace_exceptions(
    registry: SessionBreakpoints, filters: Sequence[str], types: Sequence[str]
) -> list[BreakpointResult]:
    known = [name for name in filters if name in ExceptionFilters.NAMES]
    await registry.replace_exceptions(OWNER, known, types)
    return [_build_filter(name) for name in filters]


def _build_filter(name: str) -> BreakpointResult:
    if name in ExceptionFilters.NAMES:
        return {"verified": True}
    choices = ", ".join(ExceptionFilters.NAMES)
    return {"verified": False, "message": f"There is no filter {name!r}; there are {choices}."}


async def _find_data(
    registry: SessionBreakpoints, name: str, frame_id: int, reference: int | None
) -> DataInfo:
    info = await registry.find_data(name, frame_id, reference)
    described = info.description
    if info.data_id is None and isinstance(info.message, str):
        described = info.message
    return {
        "dataId": info.data_id,
        "description": described,
        "accessTypes": list(info.access_types),
        "canPersist": info.can_persist,
    }


async def _list_all(registry: SessionBreakpoints) -> list[BreakpointResult]:
    return _build_results((await registry.all()).breakpoints)


async def _clear_all(registry: SessionBreakpoints) -> int:
    await registry.clear_exceptions(OWNER)
    return await registry.clear()


def _build_results(answers: Sequence[BreakpointAnswer]) -> list[BreakpointResult]:
    return [build_result(msgspec.to_builtins(answer)) for answer in answers]


def _check_names(names: Iterable[str], what: str) -> list[str]:
    if isinstance(names, (str, bytes)):
        raise TypeError(f"{what} must be a list of names, not one text")
    listed = list(names)
    if not all(isinstance(name, str) for name in listed):
        raise TypeError(f"{what} must be a list of names")
    return listed
