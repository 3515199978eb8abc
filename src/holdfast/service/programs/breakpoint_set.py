"""A session's breakpoints: checked when they are set, kept with their project."""

from __future__ import annotations

import dataclasses
import itertools
import os
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from typing import Any

from holdfast import errors
from holdfast.core import conditions, executable_lines, function_finder, hit_conditions, logpoints
from holdfast.core.function_finder import FunctionDefinition
from holdfast.model.breakpoint import ACCESS_TYPES, Breakpoint, FunctionPlace, build_breakpoint_id
from holdfast.service.new_ids import new_number
from holdfast.service.programs.breakpoint_owners import REST, BreakpointOwners
from holdfast.service.programs.source_files import SourceFile, SourceFiles

PENDING = "Source file not found. Breakpoint pending."
GENERATED = (
    "No file has this name. The breakpoint stops in code that the program compiles under it, "
    "as in compile(text, '<name>', 'exec')."
)
DATA_NOT_SET = (
    "It is not set: no program runs that knows this value. Stop the program, and watch it again."
)
NOT_FOUND = (
    "Function {} not found yet; it is looked for at launch, and in each module that is imported."
)
_MANY_PLACES = (
    f"It stops in {Breakpoint.MAX_PLACES} functions or more; `places` has the first of them."
)
_STORED = ("id", "file", "line", "function", "condition", "hit_condition", "log_message", "enabled")


class BreakpointSet:
    """Breakpoints in the order they were set, each with an id that is never used again.

    The ids of those that were set in one session follow each other, from a random number on.
    """

    def __init__(self, sources: SourceFiles) -> None:
        self._sources = sources
        self._all: dict[str, Breakpoint] = {}
        self._waiting: set[str] = set()  # ids of breakpoints whose file does not exist yet
        self._relative: dict[str, str] = {}  # relative paths as the user gave them, by id
        self._last = new_number()
        self.owners = BreakpointOwners()
        self.base = os.getcwd()
        self.import_path: list[str] = []
        self.script: str | None = None

    def __iter__(self) -> Iterator[Breakpoint]:
        return iter(self._all.values())

    def __len__(self) -> int:
        return len(self._all)

    def get(self, breakpoint_id: str) -> Breakpoint:
        try:
            return self._all[breakpoint_id]
        except KeyError:
            raise errors.BreakpointNotFound(
                f"no breakpoint {breakpoint_id}",
                breakpoint_id=breakpoint_id,
                known=list(self._all),
            ) from None

    def find(self, breakpoint_id: str) -> Breakpoint | None:
        return self._all.get(breakpoint_id)

    # -- changes ----------------------------------------------------------------------------

    def add(
        self, specs: Sequence[Mapping[str, Any]], strict: Iterable[bool] = ()
    ) -> list[Breakpoint]:
        """Set all of them or none. `strict` says of each whether its file must be there."""
        flags = itertools.chain(strict, itertools.repeat(False))
        numbered = [
            (Breakpoint(id=build_breakpoint_id(number), **spec), must_exist)
            for number, (spec, must_exist) in enumerate(
                zip(specs, flags, strict=False), self._last + 1
            )
        ]
        try:
            points = [
                self._verify(self._resolve_path(wanted), strict=must_exist)
                for wanted, must_exist in numbered
            ]
        except BaseException:  # if one is wrong, none is set
            for wanted, _ in numbered:
                self._forget(wanted.id)
            raise
        self._last += len(points)
        self._all.update((point.id, point) for point in points)
        return points

    def check_spec(self, spec: Mapping[str, Any]) -> None:
        """Refuse what could not be added."""
        wanted = Breakpoint(id="", **spec)
        check(wanted)
        if wanted.kind == "line":
            self._verify(
                dataclasses.replace(wanted, file=self.locate(wanted.file or "")), strict=False
            )
            self._waiting.discard("")

    def add_missing(
        self,
        specs: Sequence[Mapping[str, Any]],
        strict: Iterable[bool] = (),
        owner: str = REST,
    ) -> tuple[list[Breakpoint], list[Breakpoint]]:
        """The same, but one that is there already is not set twice. All of them, and the new.

        The owner adopts those that are there.
        """
        before = {point.id for point in self}
        known = {_build_key(point): point for point in self}
        points = self.add(specs, strict)
        wanted: dict[str, Breakpoint] = {}
        for point in points:
            kept = known.setdefault(_build_key(point), point)
            if kept is not point:
                self.remove(point.id)
                self.owners.adopt(kept.id, owner)
            else:
                self.owners.create(point.id, owner)
            wanted[kept.id] = kept
        return list(wanted.values()), [each for each in wanted.values() if each.id not in before]

    def unite_lines(
        self, added: Sequence[Breakpoint], owner: str
    ) -> tuple[list[Breakpoint], list[Breakpoint]]:
        """Leave an owner one breakpoint for each line of these, which were just added.

        The oldest keeps its id and gets the new fields. Those that are there now, and those that
        the owner had before and that are gone.
        """
        known = self._list_by_line(owner, without={point.id for point in added})
        kept: dict[str, Breakpoint] = {}
        dropped = []
        for point in added:
            if point.kind != "line":
                kept[point.id] = point
                continue
            here = known.setdefault((point.file, point.line), [point.id])
            oldest = here[0]
            if oldest != point.id:
                self._rename(point, self._all[oldest])
            dropped += [self.remove(other) for other in here[1:]]
            del here[1:]
            kept[oldest] = self._all[oldest]
        return list(kept.values()), dropped

    def _list_by_line(
        self, owner: str, without: Container[str]
    ) -> dict[tuple[str | None, int | None], list[str]]:
        """The ids of an owner's breakpoints at each line."""
        known: dict[tuple[str | None, int | None], list[str]] = {}
        for point in self:
            is_asked_for = point.kind == "line" and not point.is_until and point.id not in without
            if is_asked_for and self.owners.owns(owner, point.id):
                known.setdefault((point.file, point.line), []).append(point.id)
        return known

    def _rename(self, point: Breakpoint, before: Breakpoint) -> None:
        """Put a breakpoint in the place of an older one, whose id and hits it gets."""
        given, is_waiting = self._relative.get(point.id), point.id in self._waiting
        self.remove(point.id)
        self._all[before.id] = dataclasses.replace(point, id=before.id, hits=before.hits)
        self._relative.pop(before.id, None)
        self._waiting.discard(before.id)
        if given is not None:
            self._relative[before.id] = given
        if is_waiting:
            self._waiting.add(before.id)

    def change(self, breakpoint_id: str, changes: Mapping[str, Any]) -> Breakpoint:
        before = self.get(breakpoint_id)
        if before.kind != "line" and "line" in changes:
            raise errors.InvalidInput(
                f"a {before.kind} breakpoint has no line to change", field="line"
            )
        wanted = dataclasses.replace(before, **changes)
        changed = self._verify(self._resolve_path(wanted), strict=False)
        self._all[breakpoint_id] = changed
        return changed

    def remove(self, breakpoint_id: str) -> Breakpoint:
        point = self.get(breakpoint_id)
        del self._all[breakpoint_id]
        self._forget(breakpoint_id)
        return point

    def clear(self) -> list[Breakpoint]:
        removed = list(self._all.values())
        self._all.clear()
        self._relative.clear()
        self._waiting.clear()
        self.owners.clear()
        return removed

    def _forget(self, breakpoint_id: str) -> None:
        self._relative.pop(breakpoint_id, None)
        self._waiting.discard(breakpoint_id)
        self.owners.forget(breakpoint_id)

    def note(self, breakpoint_id: str, **facts: Any) -> None:
        """Keep what the debugger reports: hits, or a failing condition."""
        if breakpoint_id in self._all:
            self._all[breakpoint_id] = dataclasses.replace(self._all[breakpoint_id], **facts)

    # -- verification -----------------------------------------------------------------------

    def _resolve_path(self, wanted: Breakpoint) -> Breakpoint:
        """The breakpoint with an absolute path; what can never work is refused."""
        check(wanted)
        if wanted.file is not None and not wanted.is_function and not _is_generated(wanted.file):
            given = os.path.expanduser(wanted.file)
            if not os.path.isabs(given):
                self._relative[wanted.id] = given
            return dataclasses.replace(wanted, file=self.locate(wanted.file))
        return wanted

    def locate(self, file: str) -> str:
        """The absolute path of a file. A name such as `<string>` stands for no file."""
        if _is_generated(file):
            return file
        return os.path.normpath(os.path.join(self.base, os.path.expanduser(file)))

    def _verify(self, wanted: Breakpoint, *, strict: bool) -> Breakpoint:
        if wanted.is_data:  # only the program can tell
            return dataclasses.replace(wanted, verified=False, message=DATA_NOT_SET)
        if wanted.is_function:
            return self._find_function(wanted)
        assert wanted.file is not None
        assert wanted.line is not None
        source = self._sources.get(wanted.file)
        if wanted.line < 1:
            raise errors.InvalidLine(
                f"no line {wanted.line}: lines count from 1",
                hint=None if source else "Choose a line from 1 on.",
                file=wanted.file,
                line=wanted.line,
                max_line=source.analysis.max_line if source else None,
            )
        if source is None:
            if strict:
                raise errors.FileMissing(f"no such file: {wanted.file}", file=wanted.file)
            self._waiting.add(wanted.id)
            message = GENERATED if _is_generated(wanted.file) else PENDING
            return dataclasses.replace(wanted, verified=False, message=message, suggestion=None)
        placed = executable_lines.place(source.analysis, wanted.line)
        if placed.verified:
            self._waiting.discard(wanted.id)
        return dataclasses.replace(
            wanted, verified=placed.verified, message=placed.message, suggestion=placed.suggestion
        )

    def _find_function(self, wanted: Breakpoint) -> Breakpoint:
        """A function breakpoint, with the places of its functions if they can be found."""
        assert wanted.function is not None
        name = wanted.function
        cleared = dataclasses.replace(
            wanted, file=None, line=None, places=(), names=(), verified=False, message=None
        )
        problem = function_finder.find_problem(name)
        if problem is not None:
            return dataclasses.replace(cleared, message=problem)
        if function_finder.is_pattern(name):
            return _add_places(cleared, self._find_matching(name))
        for module, qualname in function_finder.candidates(name):
            places = self._find_in_module(module, qualname)
            if places:
                named = dataclasses.replace(cleared, names=((module or "__main__", qualname),))
                return _add_places(named, places)
        names = tuple(function_finder.candidates(name))
        return _add_places(dataclasses.replace(cleared, names=names), [])

    def _find_in_module(self, module: str, qualname: str) -> list[FunctionPlace]:
        path = self._module_file(module)
        source = self._sources.get(path) if path else None
        if path is None or source is None:
            return []
        text = source.analysis.text
        return _list_places(source, function_finder.find(text, qualname))

    def _find_matching(self, pattern: str) -> list[FunctionPlace]:
        """What a pattern matches in the script, and in the modules that it names."""
        modules: dict[str, list[str]] = {}
        if self.script:
            modules[self.script] = ["__main__", _stem(self.script)]
        for module in function_finder.list_named_modules(pattern):
            path = self._module_file(module)
            if path is not None:
                modules.setdefault(path, []).append(module)
        places: list[FunctionPlace] = []
        for path, names in modules.items():
            source = self._sources.get(path)
            if source is not None:
                text = source.analysis.text
                found = function_finder.find_matching(text, names, pattern)
                places += _list_places(source, found)
        return places

    def note_function(self, breakpoint_id: str, found: FunctionPlace) -> Breakpoint | None:
        """The program has a function that a breakpoint names. None: that is no news."""
        point = self._all.get(breakpoint_id)
        if point is None or not point.is_function or len(point.places) >= Breakpoint.MAX_PLACES:
            return None
        source = self._sources.get(found.file)
        if source is not None:
            lines = function_finder.list_functions(source.analysis.text)
            code = (found.name, found.first_line)
            known = (each.def_line for each in lines if (each.name, each.first_line) == code)
            found = dataclasses.replace(found, line=next(known, found.line))
        if found in point.places:
            return None
        self._all[breakpoint_id] = changed = _add_places(point, [found])
        return changed

    def _module_file(self, module: str) -> str | None:
        """The file of a module, found as import would find it, without importing anything."""
        if module in ("", "__main__") or (self.script and _stem(self.script) == module):
            return self.script
        inner = module.replace(".", os.sep)
        for folder in self._search_path():
            for candidate in (f"{inner}.py", os.path.join(inner, "__init__.py")):
                path = os.path.join(folder, candidate)
                if os.path.isfile(path) or self._sources.get(path) is not None:
                    return path
        return None

    def main_file(self, module: str) -> str | None:
        """The file that `python -m module` runs."""
        self.script = None
        return self._module_file(f"{module}.__main__") or self._module_file(module)

    def _search_path(self) -> Iterator[str]:
        if self.script:
            yield os.path.dirname(self.script)
        yield self.base
        yield from (folder for folder in self.import_path if folder)

    def refresh(self, *, all_of_them: bool = False) -> list[Breakpoint]:
        """Check those again that wait for their file or function. Return the newly verified.

        Before a launch all of them are: the files may have been edited since they were set.
        """
        verified = []
        for before in list(self._all.values()):
            waits = before.id in self._waiting or (before.is_function and not before.verified)
            if (waits or all_of_them) and not before.is_data:
                self._all[before.id] = point = self._verify_again(before)
                if point.verified and not before.verified:
                    verified.append(point)
        return verified

    def _verify_again(self, point: Breakpoint) -> Breakpoint:
        try:
            return self._verify(point, strict=False)
        except errors.InvalidLine as problem:
            return dataclasses.replace(
                point, verified=False, message=problem.message, suggestion=None
            )

    def rebase(self, base: str) -> None:
        """Relative paths start at the program's directory, once that is known."""
        self.base = base
        for breakpoint_id, given in self._relative.items():
            path = os.path.normpath(os.path.join(base, given))
            if breakpoint_id in self._waiting and os.path.isfile(path):
                self.note(breakpoint_id, file=path)

    @property
    def has_unresolved(self) -> bool:
        """Whether the function of one of them is not found yet."""
        return any(point.is_function and not point.verified and point.enabled for point in self)

    # -- for the debugger -------------------------------------------------------------------

    def lines_by_file(self, files: Iterable[str] | None = None) -> dict[str, list[Breakpoint]]:
        """Those that are enabled, and can fire now or when their file comes."""
        lines: dict[str, list[Breakpoint]] = {file: [] for file in files or ()}
        for point in self:
            can_fire = point.enabled and (point.verified or point.id in self._waiting)
            is_asked_for = files is None or point.file in lines
            if point.file is not None and not point.is_function and can_fire and is_asked_for:
                lines.setdefault(point.file, []).append(point)
        return lines

    def functions(self) -> list[Breakpoint]:
        """Those that are enabled, and can fire now or when their module is imported."""
        return [
            point
            for point in self
            if point.function and point.enabled and not function_finder.find_problem(point.function)
        ]

    def data(self) -> list[Breakpoint]:
        return [point for point in self if point.is_data and point.enabled]

    # -- for the store ----------------------------------------------------------------------

    def documents(self, *, of_everybody: bool = False) -> list[dict[str, Any]]:
        """Those that another process can have: a watched value is of one process only."""
        return [
            _build_document(point)
            for point in self
            if not (point.is_data or point.is_until)
            and (of_everybody or self.owners.is_kept(point.id))
        ]

    def restore(self, documents: Iterable[Mapping[str, Any]], *, strict: bool = False) -> None:
        """Restore stored breakpoints, and verify them again. Leave out those that are wrong.

        `strict` refuses it instead, for whoever sent it. One without an id gets a new one.
        """
        for stored in documents:
            self._last += 1
            fields: dict[str, Any] = {"id": build_breakpoint_id(self._last)}
            fields |= {key: stored[key] for key in _STORED if stored.get(key) is not None}
            try:
                wanted = self._resolve_path(Breakpoint(**fields))
                _ = wanted.number  # ValueError: the debugger could not know it by its id
                self._all[wanted.id] = self._verify_again(wanted)
            except (TypeError, ValueError, AssertionError, errors.HoldfastError):
                if strict:
                    raise


def check(wanted: Breakpoint) -> None:
    """Refuse a breakpoint that can never work."""
    if wanted.condition is not None:
        conditions.check(wanted.condition)
    if wanted.hit_condition is not None:
        hit_conditions.parse(wanted.hit_condition)
    if wanted.log_message is not None:
        logpoints.parse(wanted.log_message)
    if wanted.access not in ACCESS_TYPES:
        raise errors.InvalidInput(
            f"no access type {wanted.access!r:.100}",
            hint=f"It is one of {', '.join(ACCESS_TYPES)}.",
            field="access_type",
        )


def _list_places(
    source: SourceFile, definitions: Iterable[FunctionDefinition]
) -> list[FunctionPlace]:
    """Those that some code creates: nothing does under `if False:`."""
    lines = source.analysis.executable
    return [
        FunctionPlace(source.path, each.def_line, each.name, each.path, each.first_line)
        for each in definitions
        if each.first_line in lines or each.def_line in lines
    ]


def _add_places(point: Breakpoint, found: Sequence[FunctionPlace]) -> Breakpoint:
    """A function breakpoint that stops there, too."""
    assert point.function is not None
    places = (*point.places, *found)[: Breakpoint.MAX_PLACES]
    if not places:
        shown = function_finder.shorten(point.function)
        return dataclasses.replace(point, message=NOT_FOUND.format(shown))
    return dataclasses.replace(
        point,
        places=places,
        file=places[-1].file,
        line=places[-1].line,
        verified=True,
        message=_MANY_PLACES if len(places) == Breakpoint.MAX_PLACES else None,
    )


def _build_document(point: Breakpoint) -> dict[str, Any]:
    """The fields that the user gave, without what was found out about them."""
    names = (*_STORED, "data_id", "access", "is_until") if point.is_data else _STORED
    kept = {name: getattr(point, name) for name in names}
    if point.is_function:
        del kept["file"], kept["line"]
    return {name: value for name, value in kept.items() if value is not None}


def _build_key(point: Breakpoint) -> frozenset[tuple[str, Any]]:
    """What two breakpoints have in common that are the same but for their ids."""
    return frozenset(item for item in _build_document(point).items() if item[0] != "id")


def _is_generated(file: str) -> bool:
    """Whether this is a name such as `<string>`, which stands for no file."""
    return file.startswith("<") and file.endswith(">")


def _stem(path: str) -> str:
    return os.path.splitext(os.path.basename(path))[0]
