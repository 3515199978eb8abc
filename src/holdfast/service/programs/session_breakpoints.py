"""A session's breakpoints: sets them in the debugger, stores them, and answers about them."""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import UNSET

from holdfast import errors
from holdfast.core import executable_lines
from holdfast.model.breakpoint import (
    Breakpoint,
    ExceptionFilters,
    FunctionPlace,
    build_breakpoint_id,
)
from holdfast.model.launch import Preparation
from holdfast.service.programs.breakpoint_owners import PROGRAM, REST, UNTIL
from holdfast.service.programs.breakpoint_set import BreakpointSet
from holdfast.service.programs.data_breakpoints import DataBreakpoints
from holdfast.service.programs.source_files import SourceFiles, Stamp, stamp_of
from holdfast.targets.program.launcher import Place, Setup
from holdfast.targets.program.target import FoundFunction, Target
from holdfast.wire.described import none_to_unset
from holdfast.wire.program_answers import (
    BreakpointAnswer,
    BreakpointList,
    BreakpointsSet,
    DataBreakpointInfo,
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
        self._sources = sources
        self.points = BreakpointSet(sources)
        self.data = DataBreakpoints(session, self.points)
        self.exceptions = ExceptionFilters()
        self._owned_exceptions: dict[str, ExceptionFilters] = {}
        """What each owner other than `REST` has chosen."""
        self.prepared: list[str] = []
        """The ids of those that the last start named."""
        self._undo = _NOTHING_TO_UNDO
        self._loaded: dict[str, Stamp] = {}

    @property
    def session(self) -> ProgramSession:
        return self._session

    # -- what clients ask for ---------------------------------------------------------------

    async def add(
        self,
        specifications: Sequence[Mapping[str, Any]],
        strict: Iterable[bool] = (),
        *,
        replace: bool = False,
    ) -> BreakpointsSet:
        """Set all of them or none. `strict` says of each whether its file must be there.

        `replace`: a line has one. What is there already gets the new fields, and keeps its id.
        """
        points = self.points.add(specifications, strict)
        if replace:
            points = self._replace_at_lines(points)
        else:
            for point in points:
                self._append_event("breakpoint_set", point, REST)
        await self._apply(points)
        answers = self._describe(points)
        return BreakpointsSet(answers, len(answers))

    def _replace_at_lines(self, added: Sequence[Breakpoint]) -> list[Breakpoint]:
        """Let these take the places of those that clients had set at their lines."""
        before = {point.id: point for point in self.points}
        kept, dropped = self.points.unite_lines(added, REST)
        for point in dropped:
            self._session.event("breakpoint_removed", breakpoint_id=point.id, by=REST)
        new = {point.id for point in added}
        for point in kept:
            if point.id in new:
                self._append_event("breakpoint_set", point, REST)
            elif point != before[point.id]:
                self._append_event("breakpoint_changed", point, REST)
        return kept

    def _describe(self, points: Iterable[Breakpoint]) -> list[BreakpointAnswer]:
        """As they are now: the debugger may have found out more about them."""
        return [self._build_answer(self.points.find(point.id) or point) for point in points]

    def describe(self, ids: Iterable[str]) -> list[BreakpointAnswer]:
        """Those of these breakpoints that are still there."""
        wanted = frozenset(ids)
        return [self._build_answer(point) for point in self.points if point.id in wanted]

    async def all(self) -> BreakpointList:
        """Every breakpoint. One whose file was missing is checked again."""
        await self._refresh()
        points = [self._build_answer(point) for point in self.points if not point.is_until]
        return BreakpointList(points, len(points), self.exceptions_answer())

    async def get(self, breakpoint_id: str) -> BreakpointAnswer:
        await self._refresh()
        return self._build_answer(self.points.get(breakpoint_id))

    async def change(self, breakpoint_id: str, changes: Mapping[str, Any]) -> BreakpointAnswer:
        point = self.points.change(breakpoint_id, changes)
        self._append_event("breakpoint_changed", point, REST)
        await self._apply([point])
        return self._describe([point])[0]

    async def remove(self, breakpoint_id: str) -> None:
        point = self._remove(breakpoint_id, REST)
        await self._apply([point])

    def _remove(self, breakpoint_id: str, by: str) -> Breakpoint:
        point = self.points.remove(breakpoint_id)
        self._session.event("breakpoint_removed", breakpoint_id=breakpoint_id, by=by)
        return point

    async def clear(self) -> int:
        """Remove them all; how many there were."""
        points = self.points.clear()
        self._session.event("breakpoints_cleared", count=len(points))
        await self._apply(points)
        return len(points)

    # -- until a place is reached ------------------------------------------------------------

    async def stop_once(self, spec: Mapping[str, Any]) -> Breakpoint:
        """Stop at a place once. It is dropped at the next stop, whatever that is."""
        session = self._session
        if session.target is not None and not session.over:
            self.drop_untils(session.target)
        (point,) = self.points.add([{**spec, "is_until": True}])
        self.points.owners.create(point.id, UNTIL)
        if not point.verified and point.suggestion is not None:
            self.points.remove(point.id)
            raise errors.InvalidLine(
                f"the program cannot stop at line {point.line}: {point.message}",
                hint=f"Line {point.suggestion} is the nearest one.",
                file=point.file,
                line=point.line,
            )
        await self._apply([point])
        return point

    def drop_untils(self, target: Target) -> None:
        """What was to be waited for is given up: it stopped, or nobody waits any more."""
        dropped = [self.points.remove(each.id) for each in list(self.points) if each.is_until]
        lines = self.points.lines_by_file(
            {each.file for each in dropped if each.file and each.kind == "line"}
        )
        for file, points in lines.items():
            target.post_lines(file, points)
        if any(each.is_function for each in dropped):
            target.post_functions(self.points.functions())
        if any(each.is_data for each in dropped):
            target.post_data(self.points.data())

    def is_until(self, breakpoint_id: str) -> bool:
        """Whether it stops once, for somebody who runs to its place."""
        point = self.points.find(breakpoint_id)
        return point is not None and point.is_until

    # -- for one owner -----------------------------------------------------------------------

    async def add_owned(
        self, owner: str, specifications: Sequence[Mapping[str, Any]]
    ) -> list[BreakpointAnswer]:
        """Set all of them or none, for an owner. One that is there already is adopted."""
        points, added = self.points.add_missing(specifications, owner=owner)
        for point in added:
            self._append_event("breakpoint_set", point, owner)
        await self._apply(points)
        return self._describe(points)

    async def remove_all(self, ids: Iterable[str], by: str) -> int:
        """Remove these, whoever has set them; how many there were."""
        removed = [self._remove(breakpoint_id, by) for breakpoint_id in ids]
        if removed:
            await self._apply(removed)
        return len(removed)

    # -- where lines can stop ---------------------------------------------------------------

    def list_lines(self, file: str, first: int, last: int) -> list[int]:
        """The lines of a file, from the first to the last, at which a program can stop."""
        source = self._sources.get(self.points.locate(file))
        lines = source.analysis.executable if source else ()
        return sorted(line for line in lines if first <= line <= last)

    def find_nearest_line(self, file: str, line: int) -> int:
        """The line itself, or the nearest one if no program can stop there."""
        source = self._sources.get(self.points.locate(file))
        if source is None or not 1 <= line <= source.analysis.max_line:
            return line
        return executable_lines.place(source.analysis, line).suggestion or line

    # -- whole sets, each of one owner ------------------------------------------------------

    async def replace_lines(
        self, owner: str, file: str, specs: Sequence[Mapping[str, Any]]
    ) -> list[BreakpointAnswer]:
        """Replace an owner's breakpoints in one file. An answer for each, also for a wrong one."""
        path = self.points.locate(file)
        here = {point.id for point in self.points if point.kind == "line" and point.file == path}
        return await self._replace(owner, here, [{**spec, "file": path} for spec in specs])

    async def replace_functions(
        self, owner: str, specs: Sequence[Mapping[str, Any]]
    ) -> list[BreakpointAnswer]:
        """Replace an owner's function breakpoints."""
        return await self._replace(owner, self._list_ids("function"), specs)

    async def replace_data(
        self, owner: str, specs: Sequence[Mapping[str, Any]]
    ) -> list[BreakpointAnswer]:
        """Replace an owner's data breakpoints."""
        named = [self.data.add_name(spec) for spec in specs]
        return await self._replace(owner, self._list_ids("data"), named)

    def _list_ids(self, kind: str) -> set[str]:
        return {point.id for point in self.points if point.kind == kind and not point.is_until}

    async def _replace(
        self, owner: str, concerned: set[str], specs: Sequence[Mapping[str, Any]]
    ) -> list[BreakpointAnswer]:
        """Until the debugger is told, nothing waits: of two that replace, the last one wins."""
        owners = self.points.owners
        outcomes = [self._set_owned(owner, spec) for spec in specs]
        wanted = {outcome.id for outcome in outcomes if isinstance(outcome, Breakpoint)}
        dropped = [
            self._remove(breakpoint_id, owner)
            for breakpoint_id in concerned - wanted
            if owners.owns(owner, breakpoint_id)
        ]
        changed = [outcome for outcome in outcomes if isinstance(outcome, Breakpoint)]
        await self._apply([*changed, *dropped])
        return [
            outcome
            if isinstance(outcome, BreakpointAnswer)
            else self._build_answer(self.points.find(outcome.id) or outcome)
            for outcome in outcomes
        ]

    def _set_owned(self, owner: str, spec: Mapping[str, Any]) -> Breakpoint | BreakpointAnswer:
        """Set one for an owner, or say why it cannot be set."""
        try:
            (point,), added = self.points.add_missing([spec], owner=owner)
        except errors.HoldfastError as problem:
            return _build_refusal(spec, f"{problem.message}. {problem.hint or ''}".strip())
        if added:
            self._append_event("breakpoint_set", point, owner)
        return point

    async def replace_exceptions(
        self, owner: str, filters: Sequence[str], types: Sequence[str] = ()
    ) -> ExceptionBreakpoints:
        """Replace an owner's choice of exceptions. Those that any owner has chosen stop."""
        _check_types(types)
        self._owned_exceptions[owner] = ExceptionFilters(tuple(filters), tuple(types))
        await self._apply_exceptions(owner)
        return ExceptionBreakpoints(list(filters), list(types))

    async def clear_exceptions(self, by: str) -> None:
        """Let no exception stop the program any more, whoever has chosen it."""
        self.exceptions = _NO_FILTERS
        self._owned_exceptions.clear()
        await self._apply_exceptions(by)

    async def release_owner(self, owner: str) -> None:
        """An owner leaves: what nobody else has set goes with it."""
        unwanted = [self._remove(id_, owner) for id_ in self.points.owners.release(owner)]
        if self._owned_exceptions.pop(owner, None):
            await self._apply_exceptions(owner)
        if unwanted:
            await self._apply(unwanted)

    # -- values -----------------------------------------------------------------------------

    async def add_data(self, specifications: Sequence[Mapping[str, Any]]) -> BreakpointsSet:
        """Watch values: by their data ids, or by `name` and `frame_id` in the program's frames."""
        return await self.add([await self.data.resolve(spec) for spec in specifications])

    async def clear_data(self) -> int:
        """Remove all data breakpoints; how many there were."""
        points = [self._remove(id_, REST) for id_ in self._list_ids("data")]
        await self._apply(points)
        return len(points)

    async def find_data(
        self, name: str, frame_id: int | None = None, reference: int | None = None
    ) -> DataBreakpointInfo:
        """What a name stands for, in a frame or in the value of a reference, to be watched."""
        return await self.data.find(name, frame_id, reference)

    def note_data(self, breakpoint_id: str, message: str | None) -> None:
        """What it watches is there now: the module of a global was imported."""
        self.points.note(breakpoint_id, verified=True, message=message)
        self._session.event("breakpoint_verified", breakpoint_id=breakpoint_id)

    def end_data(self, breakpoint_id: str, message: str) -> None:
        """What it watches is gone: the frame has returned, or the object was collected."""
        if self.points.find(breakpoint_id) is not None:
            self.points.note(breakpoint_id, verified=False, message=message)
            self._append_event("breakpoint_changed", self.points.get(breakpoint_id), PROGRAM)

    # -- exceptions -------------------------------------------------------------------------

    async def set_exceptions(
        self, filters: Sequence[str], types: Sequence[str]
    ) -> ExceptionBreakpoints:
        """Which exceptions stop: all, or those of some types."""
        _check_types(types)
        self.exceptions = ExceptionFilters(tuple(filters), tuple(types))
        await self._apply_exceptions(REST)
        return self.exceptions_answer()

    async def _apply_exceptions(self, by: str) -> None:
        session = self._session
        self._append_exceptions_event(by)
        if session.target is not None and not session.over:
            posted = session.target.post_exceptions(self.effective_exceptions)
            await session.target.wait_for_replies(posted)
        await session.storage.save()

    def exceptions_answer(self) -> ExceptionBreakpoints:
        return ExceptionBreakpoints(list(self.exceptions.filters), list(self.exceptions.types))

    # -- what comes with a start ------------------------------------------------------------

    def set_before_start(self, preparation: Preparation) -> None:
        """Set what a request wants set before its program starts. All of it or nothing."""
        points, added = self.points.add_missing(preparation.breakpoints, preparation.strict)
        self.prepared = [point.id for point in points]
        for point in added:
            self._append_event("breakpoint_set", point, REST)
        before = self.exceptions
        if preparation.exception_filters is not None:
            self._choose_exceptions(ExceptionFilters(tuple(preparation.exception_filters)))
        self._undo = ([point.id for point in added], before, self.exceptions)

    def undo_set_before_start(self) -> None:
        """Take it back, because the start was refused. What was changed since then stays."""
        (added, before, after), self._undo = self._undo, _NOTHING_TO_UNDO
        self.prepared = []
        for point in [point for point in self.points if point.id in added]:
            self._remove(point.id, REST)
        if before is not after and self.exceptions is after:
            self._choose_exceptions(before)

    def _choose_exceptions(self, chosen: ExceptionFilters) -> None:
        self.exceptions = chosen
        self._append_exceptions_event(REST)

    def _append_exceptions_event(self, by: str) -> None:
        chosen = self.exceptions if by == REST else self._owned_exceptions.get(by, _NO_FILTERS)
        self._session.event(
            "exception_breakpoints_set",
            filters=list(chosen.filters),
            types=list(chosen.types),
            by=by,
        )

    def _append_event(self, kind: str, point: Breakpoint, by: str) -> None:
        facts = build_breakpoint(point, self.points.owners.of(point.id))
        self._session.event(kind, **msgspec.to_builtins(facts), by=by)

    def _build_answer(self, point: Breakpoint) -> BreakpointAnswer:
        answer = build_breakpoint(point, self.points.owners.of(point.id))
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
            if any(point.is_data for point in points):
                await self.data.apply(target)
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
        """Another run begins, and counts from 0. What was to be reached in the last one is over."""
        for point in list(self.points):
            if point.is_until and point.id not in self.prepared:
                self.points.remove(point.id)
        for point in list(self.points):
            if point.hits:
                self.points.note(point.id, hits=0)

    @property
    def effective_exceptions(self) -> ExceptionFilters:
        """The filters of the session, those of its owners, and those of its launch."""
        chosen = _unite([self.exceptions, *self._owned_exceptions.values()])
        launch = self._session.launch
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
        return Setup(
            points.lines_by_file(), points.functions(), self.effective_exceptions, points.data()
        )

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
        if now.data != before.data:
            posted.append(target.post_data(now.data))
        await target.wait_for_replies(*posted)


def _check_types(types: Sequence[str]) -> None:
    for name in types:
        if not all(part.isidentifier() for part in name.split(".")):
            raise errors.InvalidInput(
                f"{name!r} is not the name of a class",
                hint="Give names such as ValueError, MyError or package.module.MyError.",
                field="types",
            )


def _unite(choices: Sequence[ExceptionFilters]) -> ExceptionFilters:
    """Whatever one of them stops at. Types narrow it only if all who chose something name some."""
    active = [chosen for chosen in choices if chosen.filters or chosen.types]
    if len(active) <= 1:
        return active[0] if active else _NO_FILTERS
    filters = dict.fromkeys(name for chosen in active for name in chosen.filters)
    are_narrow = all(chosen.types for chosen in active)
    types = dict.fromkeys(name for chosen in active for name in chosen.types if are_narrow)
    return ExceptionFilters(
        tuple(filters), tuple(types), all(chosen.user_code_only for chosen in active)
    )


def _build_refusal(spec: Mapping[str, Any], message: str) -> BreakpointAnswer:
    """The answer about a breakpoint that is not set, because it could never work."""
    fields = {name: spec[name] for name in ("condition", "hit_condition") if spec.get(name)}
    known = Breakpoint(id="", **{k: spec[k] for k in spec if k in ("file", "line", "function")})
    known = dataclasses.replace(known, message=message, **fields)
    if "data_id" in spec:
        known = dataclasses.replace(known, data_id=str(spec["data_id"]))
    return build_breakpoint(known, [])


def _place_of(point: Breakpoint) -> dict[str, Any]:
    place = {"file": point.file, "line": point.line, "function": point.function}
    known = {name: value for name, value in place.items() if value is not None}
    return {"breakpoint_id": point.id, **known}


def build_breakpoint(point: Breakpoint, owners: list[str]) -> BreakpointAnswer:
    suggestion = point.suggestion
    return BreakpointAnswer(
        breakpoint_id=point.id,
        id=point.id,
        kind=point.kind,
        set_by=owners,
        verified=point.verified,
        enabled=point.enabled,
        hits=point.hits,
        file=none_to_unset(point.file),
        line=none_to_unset(point.line),
        function=none_to_unset(point.function),
        condition=none_to_unset(point.condition),
        hit_condition=none_to_unset(point.hit_condition),
        log_message=none_to_unset(point.log_message),
        data_id=none_to_unset(point.data_id),
        access_type=point.access if point.is_data else UNSET,
        expression=none_to_unset(point.expression),
        source=UNSET if point.file is None else SourcePath(point.file),
        places=[_build_place(place) for place in point.places] if len(point.places) > 1 else UNSET,
        message=none_to_unset(point.message),
        suggestion=UNSET if suggestion is None else SuggestedLine(suggestion),
    )


def _build_place(place: FunctionPlace) -> Location:
    return Location(place.file, place.line, place.qualname)
