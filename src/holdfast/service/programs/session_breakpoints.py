"""A session's breakpoints: sets them in the debugger, stores them, and answers about them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from holdfast import errors
from holdfast.model.breakpoint import (
    Breakpoint,
    ExceptionFilters,
    FunctionPlace,
    build_breakpoint_id,
)
from holdfast.model.launch import Preparation
from holdfast.service.programs.breakpoint_set import BreakpointSet
from holdfast.service.programs.source_files import SourceFiles, Stamp, stamp_of
from holdfast.targets.program.launcher import Place, Setup
from holdfast.targets.program.target import FoundFunction, Target
from holdfast.wire.described import none_to_unset
from holdfast.wire.program_answers import (
    BreakpointAnswer,
    BreakpointList,
    BreakpointsSet,
    ExceptionBreakpoints,
    SourcePath,
    SuggestedLine,
)
from holdfast.wire.session_answers import Location

if TYPE_CHECKING:
    from holdfast.service.programs.program_session import ProgramSession

_Undo = tuple[list[str], ExceptionFilters, ExceptionFilters]
"""The ids of new breakpoints, and the exception filters before and after a change."""
_NO_FILTERS = ExceptionFilters()
_NOTHING_TO_UNDO: _Undo = ([], _NO_FILTERS, _NO_FILTERS)
_TOO_MANY = "It stops in the first {} functions that match, and in no others."
_CHANGED = "The file has changed since it was loaded; the line is of the old text."


class SessionBreakpoints:
    """Every change reaches the debugger, then the store, before the answer says so."""

    def __init__(self, session: ProgramSession, sources: SourceFiles) -> None:
        self._session = session
        self.points = BreakpointSet(sources)
        self.exceptions = ExceptionFilters()
        self.prepared: list[str] = []
        """The ids of those that the last start named."""
        self._undo = _NOTHING_TO_UNDO
        self._loaded: dict[str, Stamp] = {}

    # -- what clients ask for ---------------------------------------------------------------

    async def add(
        self, specifications: Sequence[Mapping[str, Any]], strict: Iterable[bool] = ()
    ) -> BreakpointsSet:
        """Set all of them or none. `strict` says of each whether its file must be there."""
        points = self.points.add(specifications, strict)
        for point in points:
            self._append_event("breakpoint_set", point)
        await self._apply(points)
        # A program that runs may have reported its functions meanwhile.
        answers = [self._build_answer(self.points.find(point.id) or point) for point in points]
        return BreakpointsSet(answers, len(answers))

    def describe(self, ids: Iterable[str]) -> list[BreakpointAnswer]:
        """Those of these breakpoints that are still there."""
        wanted = frozenset(ids)
        return [self._build_answer(point) for point in self.points if point.id in wanted]

    async def all(self) -> BreakpointList:
        """Every breakpoint. One whose file was missing is checked again."""
        await self._refresh()
        points = [self._build_answer(point) for point in self.points]
        return BreakpointList(points, len(points), self.exceptions_answer())

    async def get(self, breakpoint_id: str) -> BreakpointAnswer:
        await self._refresh()
        return self._build_answer(self.points.get(breakpoint_id))

    async def change(self, breakpoint_id: str, changes: Mapping[str, Any]) -> BreakpointAnswer:
        point = self.points.change(breakpoint_id, changes)
        self._append_event("breakpoint_changed", point)
        await self._apply([point])
        return self._build_answer(self.points.find(breakpoint_id) or point)

    async def remove(self, breakpoint_id: str) -> None:
        point = self.points.remove(breakpoint_id)
        self._session.event("breakpoint_removed", breakpoint_id=breakpoint_id)
        await self._apply([point])

    async def clear(self) -> int:
        """Remove them all; how many there were."""
        points = self.points.clear()
        self._session.event("breakpoints_cleared", count=len(points))
        await self._apply(points)
        return len(points)

    async def set_exceptions(
        self, filters: Sequence[str], types: Sequence[str]
    ) -> ExceptionBreakpoints:
        """Which exceptions stop: all, or those of some types."""
        for name in types:
            if not all(part.isidentifier() for part in name.split(".")):
                raise errors.InvalidInput(
                    f"{name!r} is not the name of a class",
                    hint="Give names such as ValueError, MyError or package.module.MyError.",
                    field="types",
                )
        session = self._session
        self._choose_exceptions(ExceptionFilters(tuple(filters), tuple(types)))
        if session.target is not None and not session.over:
            posted = session.target.post_exceptions(self.effective_exceptions)
            await session.target.wait_for_replies(posted)
        await session.storage.save()
        return self.exceptions_answer()

    def exceptions_answer(self) -> ExceptionBreakpoints:
        return ExceptionBreakpoints(list(self.exceptions.filters), list(self.exceptions.types))

    # -- what comes with a start ------------------------------------------------------------

    def set_before_start(self, preparation: Preparation) -> None:
        """Set what a request wants set before its program starts. All of it or nothing."""
        points, added = self.points.add_missing(preparation.breakpoints, preparation.strict)
        self.prepared = [point.id for point in points]
        for point in added:
            self._append_event("breakpoint_set", point)
        before = self.exceptions
        if preparation.exception_filters is not None:
            self._choose_exceptions(ExceptionFilters(tuple(preparation.exception_filters)))
        self._undo = ([point.id for point in added], before, self.exceptions)

    def undo_set_before_start(self) -> None:
        """Take it back, because the start was refused. What was changed since then stays."""
        (added, before, after), self._undo = self._undo, _NOTHING_TO_UNDO
        self.prepared = []
        for point in [point for point in self.points if point.id in added]:
            self.points.remove(point.id)
            self._session.event("breakpoint_removed", breakpoint_id=point.id)
        if before is not after and self.exceptions is after:
            self._choose_exceptions(before)

    def _choose_exceptions(self, chosen: ExceptionFilters) -> None:
        self.exceptions = chosen
        self._session.event(
            "exception_breakpoints_set", filters=list(chosen.filters), types=list(chosen.types)
        )

    def _append_event(self, kind: str, point: Breakpoint) -> None:
        self._session.event(kind, **msgspec.to_builtins(build_breakpoint(point)))

    def _build_answer(self, point: Breakpoint) -> BreakpointAnswer:
        answer = build_breakpoint(point)
        if point.file and not self._session.over and self.has_changed(point.file):
            answer.warning = _CHANGED
        return answer

    def has_changed(self, file: str) -> bool:
        """Whether a source is not what the program loaded."""
        loaded = self._loaded.get(file)
        return loaded is not None and stamp_of(file) != loaded

    # -- what the debugger gets ----------------------------------------------------------

    async def _apply(self, changed: Iterable[Breakpoint]) -> None:
        session, points = self._session, list(changed)
        target = session.target
        if target is not None and not session.over and not target.connection.closed:
            files = {point.file for point in points if point.file and not point.is_function}
            lines = self.points.lines_by_file(files)
            posted = [target.post_lines(file, lines[file]) for file in lines]
            if any(point.is_function for point in points):
                posted.append(target.post_functions(self.points.functions()))
            await target.wait_for_replies(*posted)
        await session.storage.save()

    async def _refresh(self) -> None:
        """Look again for missing files, and ask how often each breakpoint was hit."""
        session = self._session
        verified = self.points.refresh()
        for point in verified:
            session.event("breakpoint_verified", **_place_of(point))
        if verified:
            await self._apply(verified)
        if session.target is not None and not session.over:
            # A program that just ended has reported them already.
            with contextlib.suppress(errors.HoldfastError):
                self.note_hits(await session.target.operate("hits"))

    def note_function(self, found: FoundFunction) -> None:
        """The program has loaded a function that a breakpoint names."""
        point_id, line = build_breakpoint_id(found["id"]), found["line"]
        if found["limit"] is not None:
            self.points.note(point_id, message=_TOO_MANY.format(found["limit"]))
            return
        before = self.points.find(point_id)
        place = FunctionPlace(found["file"], line, found["name"], found["qualname"], line)
        point = self.points.note_function(point_id, place)
        if point is not None and before is not None and not before.verified:
            self._session.event("breakpoint_verified", **_place_of(point))

    def note_hits(self, hits: Mapping[str, int]) -> None:
        for number, count in hits.items():
            self.points.note(build_breakpoint_id(int(number)), hits=count)

    def count_hit(self, breakpoint_id: str) -> None:
        """A logpoint has written. The debugger's own count replaces this one later."""
        point = self.points.find(breakpoint_id)
        if point is not None:
            self.points.note(breakpoint_id, hits=point.hits + 1)

    def forget_hits(self) -> None:
        """Another run begins, and counts from 0."""
        for point in list(self.points):
            if point.hits:
                self.points.note(point.id, hits=0)

    @property
    def effective_exceptions(self) -> ExceptionFilters:
        """The filters of the session, and those of its launch."""
        chosen, launch = self.exceptions, self._session.launch
        stop_on = launch.stop_on_exception if launch else False
        if stop_on is False:
            return chosen
        extra = ("uncaught",) if stop_on == "uncaught" else ("raised", "uncaught")
        if not chosen.filters and not chosen.types:
            return ExceptionFilters(extra, (), user_code_only=stop_on is True)
        return ExceptionFilters(
            tuple(dict.fromkeys((*chosen.filters, *extra))), chosen.types, chosen.user_code_only
        )

    def prepare(self, place: Place) -> None:
        """Point them at a program, and note which sources it is about to load."""
        points = self.points
        points.rebase(place.cwd)
        points.script = place.main_file
        points.import_path = list(filter(None, place.env.get("PYTHONPATH", "").split(os.pathsep)))
        if "module" in place.spec:
            points.script = points.main_file(place.spec["module"])
        points.refresh(all_of_them=True)
        files = {point.file for point in points if point.file} | set(filter(None, [points.script]))
        stamps = {file: stamp_of(file) for file in files}
        self._loaded = {file: stamp for file, stamp in stamps.items() if stamp is not None}

    def setup(self) -> Setup:
        """What a program that starts needs to know."""
        points = self.points
        return Setup(points.lines_by_file(), points.functions(), self.effective_exceptions)

    def setup_for(self, import_path: list[str]) -> Setup:
        """The same, once a program has reported where it imports from."""
        self.points.import_path = import_path
        self.points.refresh()
        return self.setup()

    async def send_changes(self, target: Target, before: Setup) -> None:
        """Send what was changed while the program started."""
        now = self.setup()
        if now == before:
            return
        files = [*before.lines, *(file for file in now.lines if file not in before.lines)]
        posted = [target.post_lines(file, now.lines.get(file, [])) for file in files]
        posted += [target.post_functions(now.functions), target.post_exceptions(now.exceptions)]
        await target.wait_for_replies(*posted)


def _place_of(point: Breakpoint) -> dict[str, Any]:
    place = {"file": point.file, "line": point.line, "function": point.function}
    known = {name: value for name, value in place.items() if value is not None}
    return {"breakpoint_id": point.id, **known}


def build_breakpoint(point: Breakpoint) -> BreakpointAnswer:
    suggestion = point.suggestion
    return BreakpointAnswer(
        breakpoint_id=point.id,
        id=point.id,
        verified=point.verified,
        enabled=point.enabled,
        hits=point.hits,
        file=none_to_unset(point.file),
        line=none_to_unset(point.line),
        function=none_to_unset(point.function),
        condition=none_to_unset(point.condition),
        hit_condition=none_to_unset(point.hit_condition),
        log_message=none_to_unset(point.log_message),
        source=UNSET if point.file is None else SourcePath(point.file),
        places=[_build_place(place) for place in point.places] if len(point.places) > 1 else UNSET,
        message=none_to_unset(point.message),
        suggestion=UNSET if suggestion is None else SuggestedLine(suggestion),
    )


def _build_place(place: FunctionPlace) -> Location:
    return Location(place.file, place.line, place.qualname)
