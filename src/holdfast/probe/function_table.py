"""Which code objects the function breakpoints concern.

The server sends the places that it found in source files, and the names or the pattern to look for
in all others. Those are looked for in each module as it begins to run, before any of its functions
can be called, and in what is loaded already when a breakpoint is set. What is found is reported.
"""

from __future__ import annotations

import sys
import threading
import weakref
from typing import Any, Callable, Dict, FrozenSet, Iterable, List, Optional, Sequence, Set, Tuple

from . import server_messages, thread_suspension
from .breakpoint_rules import STANDARD_LIBRARY, Rule, find_stopping
from .function_names import (
    LAMBDA,
    NameMatcher,
    find_attribute,
    list_loaded_functions,
    list_module_names,
    walk_functions,
)
from .generator_entries import GeneratorEntry, is_generator, list_generators
from .pydevd_access import canonical, current, is_called_by_debugger, is_ours

_FUNCTION_BREAKPOINT = 208  # pydevd's CMD_SET_FUNCTION_BREAK
_GENERATOR_FLAGS = 0x2A0  # CO_GENERATOR, CO_COROUTINE or CO_ASYNC_GENERATOR
_LIBRARY_FOLDERS = ("/site-packages/", "/dist-packages/")
_MAX_FUNCTIONS = 10_000  # that one breakpoint finds by its name or pattern
_MAX_REPORTED = 100  # the server lists no more

_Place = Tuple[str, int, str]  # canonical file, first line, bare name


class _Module:
    """A module whose functions are looked at."""

    def __init__(self, file: str, names: Tuple[str, ...], is_library: bool) -> None:
        self.file = file  # as a canonical path
        self.names = names
        self.is_library = is_library
        self.is_main = "__main__" in names

    def may_match(self, searches: Iterable[_Search]) -> bool:
        return any(s.may_be_in(self) for s in searches)


class _Search:
    """What one breakpoint looks for, and what it has found."""

    def __init__(self, rule: Rule) -> None:
        function = rule.function or {}
        self.rule = rule
        self.matcher = NameMatcher(function.get("names") or (), function.get("pattern"))
        self.names = [tuple(name) for name in function.get("names") or ()]
        self.places: Dict[_Place, str] = {
            (canonical(place["file"]), place["first_line"], place["name"]): place["qualname"]
            for place in function.get("places") or ()
        }
        # What is known by its place needs no search, but a module that runs is looked through.
        self._lambdas = {name for place, name in self.places.items() if place[2] == LAMBDA}
        self.is_open = not self.places or bool(function.get("pattern")) or bool(self._lambdas)
        self.found = 0

    def may_be(self, code: Any, qualname: str) -> bool:
        """Whether it is for a function of this name in some module; quick."""
        return self.matcher.may_match(qualname) or (
            code.co_name == LAMBDA and qualname in self._lambdas
        )

    def may_be_in(self, module: _Module) -> bool:
        """Whether it is for any function of a module."""
        if self.matcher.may_match_in(module.names, module.is_library):
            return True
        return bool(self._lambdas) and any(place[0] == module.file for place in self.places)

    def has_lambda(self, file: str, code: Any, qualname: str) -> bool:
        """Several lambdas may begin on one line, so that their place does not tell them apart."""
        if code.co_name != LAMBDA or not self._lambdas:
            return False
        return self.places.get((file, code.co_firstlineno, LAMBDA)) == qualname

    def note(self, file: str, code: Any, qualname: str) -> bool:
        """Report a function that was found. False if there are too many."""
        self.found += 1
        is_allowed = self.found <= _MAX_FUNCTIONS
        place = (file, code.co_firstlineno, code.co_name)
        is_listed = place in self.places or len(self.places) >= _MAX_REPORTED
        if (is_allowed and not is_listed) or self.found == _MAX_FUNCTIONS + 1:
            self.places.setdefault(place, qualname)
            server_messages.report(
                "function_found",
                id=self.rule.id,
                file=file,
                line=code.co_firstlineno,
                name=code.co_name,
                qualname=qualname,
                limit=None if is_allowed else _MAX_FUNCTIONS,
            )
        return is_allowed


class _Entry:
    """The rules of one function, for as long as its code lives."""

    def __init__(self, code: Any, forget: Callable[[Any], Any]) -> None:
        self.rules: List[Rule] = []
        self.is_complete = False  # its place has been looked up
        self.is_standard = canonical(code.co_filename).startswith(STANDARD_LIBRARY)
        self.generator: Optional[GeneratorEntry] = None  # where it begins, if that was asked
        self.code = weakref.ref(code, forget)


class FunctionTable:
    """The rules of function breakpoints, by the code objects that they concern."""

    def __init__(self) -> None:
        self.clear()

    def clear(self) -> None:
        self.is_empty = True
        self.files: FrozenSet[str] = frozenset()  # canonical paths of those found so far
        self._searches: List[_Search] = []
        self._by_place: Dict[Tuple[int, str], List[Tuple[str, Rule]]] = {}
        # By the id of a code object while it lives: code of two files may be equal.
        self._by_code: Dict[int, _Entry] = {}
        self._libraries: Dict[str, bool] = {}

    def set_rules(self, rules: Sequence[Rule]) -> None:
        """Replace all of them, and look for their functions in what is loaded."""
        self.clear()
        self._searches = [_Search(rule) for rule in rules]
        for search in self._searches:
            for file, line, name in search.places:
                self.files |= {file}
                if name != LAMBDA:
                    self._by_place.setdefault((line, name), []).append((file, search.rule))
        self.is_empty = not rules
        if any(search.is_open for search in self._searches):
            self._search_loaded([search for search in self._searches if search.is_open])

    def find_entry(self, code: Any) -> Optional[_Entry]:
        """The rules that concern a function; None if there are none."""
        entry = self._by_code.get(id(code))
        if entry is not None and entry.is_complete:  # at every call of a hot function
            return entry
        here = self._by_place.get((code.co_firstlineno, code.co_name), ())
        file = canonical(code.co_filename) if here else ""
        for place, rule in here:
            if place == file:
                self._add_rule(code, rule)
        entry = self._by_code.get(id(code))
        if entry is not None:
            entry.is_complete = True
        return entry

    def list_bare_names(self) -> Dict[str, int]:
        """The bare name of each function found so far, and the id of a rule for it."""
        places = ((place[2], s.rule.id) for s in self._searches for place in s.places)
        return dict(places)

    def find_generator_lines(self) -> Dict[str, Set[int]]:
        """By canonical path: the lines that run first in the generators found so far."""
        codes = [entry.code() for entry in list(self._by_code.values())]
        codes += [code for file in self.files for code in list_generators(file)]
        lines: Dict[str, Set[int]] = {}
        for code in codes:
            if code is not None and is_generator(code) and self.find_entry(code) is not None:
                first_lines = lines.setdefault(canonical(code.co_filename), set())
                first_lines.add(GeneratorEntry(code).line)
        return lines

    def may_concern(self, file: str, names: Dict[str, Any]) -> bool:
        """Whether functions of this file (a canonical path) are to be looked at."""
        return file in self.files or self._describe(file, names).may_match(self._searches)

    # -- looking for functions ------------------------------------------------------------------

    def search_module(self, frame: Any) -> None:
        """Look through a module that is about to run."""
        code, names = frame.f_code, frame.f_globals
        file = canonical(code.co_filename)
        if is_ours(code.co_filename) or not self.may_concern(file, names):
            return
        module = self._describe(file, names)
        for inner, qualname in walk_functions(code):
            self._check(self._searches, inner, module, qualname)

    def _search_loaded(self, searches: Sequence[_Search]) -> None:
        """Look through what was loaded before, the script first."""
        for top in list(sys._current_frames().values()):
            frame: Any = top
            while frame is not None:
                if frame.f_code.co_name == "<module>":
                    self.search_module(frame)
                frame = frame.f_back
        for code, module, qualname in self._list_loaded(searches):
            self._check(searches, code, module, qualname)
        for search in searches:
            for name, qualname in search.names:
                for function in find_attribute(name, qualname):
                    self._add(search, function.__code__, qualname)

    def _list_loaded(self, searches: Sequence[_Search]) -> List[Tuple[Any, _Module, str]]:
        modules: Dict[Tuple[int, str], Optional[_Module]] = {}

        def find_module(file: str, names: Dict[str, Any]) -> Optional[_Module]:
            key = id(names), file
            if key not in modules:
                module = self._describe(canonical(file), names)
                is_concerned = not is_ours(file) and module.may_match(searches)
                modules[key] = module if is_concerned else None
            return modules[key]

        functions = [
            (code, module, qualname)
            for code, module, qualname in list_loaded_functions(find_module)
            if any(search.may_be(code, qualname) for search in searches)
        ]
        functions.sort(key=lambda e: (not e[1].is_main, e[1].file, e[0].co_firstlineno))
        return functions

    def _check(
        self, searches: Iterable[_Search], code: Any, module: _Module, qualname: str
    ) -> None:
        for search in searches:
            matcher = search.matcher
            if matcher.matches(module.names, qualname, module.is_library):
                if module.is_main and matcher.is_any(qualname):
                    matcher.close_to("__main__", qualname)
                self._add(search, code, qualname)
            elif search.has_lambda(module.file, code, qualname):
                self._add(search, code, qualname)

    def _add(self, search: _Search, code: Any, qualname: str) -> None:
        entry = self._by_code.get(id(code))
        if is_ours(code.co_filename) or (entry is not None and search.rule in entry.rules):
            return
        file = canonical(code.co_filename)
        if search.note(file, code, qualname):
            self._add_rule(code, search.rule)
            if file not in self.files:
                self.files |= {file}

    def _add_rule(self, code: Any, rule: Rule) -> None:
        number, codes = id(code), self._by_code
        entry = codes.get(number)
        if entry is None:
            entry = codes[number] = _Entry(code, lambda _: codes.pop(number, None))
        if rule not in entry.rules:
            entry.rules.append(rule)

    def _describe(self, file: str, names: Dict[str, Any]) -> _Module:
        return _Module(file, list_module_names(names), self._is_library(file, names))

    def _is_library(self, file: str, names: Dict[str, Any]) -> bool:
        """Whether a file is none of the user's; generated code belongs to its module."""
        if file.startswith("<"):
            origin = names.get("__file__")
            if file.startswith("<frozen ") or not isinstance(origin, str):
                return file.startswith("<frozen ")
            file = canonical(origin)
        known = self._libraries.get(file)
        if known is None:
            known = self._libraries[file] = _is_library_file(file)
        return known


def _is_library_file(file: str) -> bool:
    # The debugger may have loaded libraries of the server's own Python.
    is_installed = any(folder in file.replace("\\", "/") for folder in _LIBRARY_FOLDERS)
    db = current()
    return is_installed or (db is not None and not db._files_filtering.in_project_roots(file))


FUNCTIONS = FunctionTable()


def enter_function(frame: Any, entry: _Entry) -> None:
    """A function begins: stop there if a rule says so."""
    if _is_debuggers_call(frame, entry.is_standard):
        return
    stopping = find_stopping(entry.rules, frame)
    if stopping:
        thread_suspension.stop_here(frame, stopping, _FUNCTION_BREAKPOINT, "call")


def rules_at_call(frame: Any) -> List[Rule]:
    """Those of the function that begins, where pydevd asks."""
    entry = FUNCTIONS.find_entry(frame.f_code)
    if entry is None or not is_beginning(frame) or _is_debuggers_call(frame, entry.is_standard):
        return []
    return entry.rules


def rules_at_line(frame: Any) -> List[Rule]:
    """Those of the generator that begins with this line, where pydevd asks."""
    entry = FUNCTIONS.find_entry(frame.f_code) if is_generator(frame.f_code) else None
    if entry is None:
        return []
    if entry.generator is None:
        entry.generator = GeneratorEntry(frame.f_code)
    if not entry.generator.is_at(frame) or _is_debuggers_call(frame, entry.is_standard):
        return []
    return entry.rules


def _is_debuggers_call(frame: Any, is_standard: bool) -> bool:
    """Whether the debugger calls it: a library that it uses itself, or to show a value."""
    thread: Any = threading._active.get(threading.get_ident())  # type: ignore[attr-defined]
    if getattr(thread, "pydev_do_not_trace", False):
        return True
    return is_standard and is_called_by_debugger(frame)


def is_beginning(frame: Any) -> bool:
    """At a "call": whether a frame begins, or, before Python 3.12, a generator's goes on."""
    if not frame.f_code.co_flags & _GENERATOR_FLAGS or sys.version_info >= (3, 12):
        return True
    if sys.version_info < (3, 11):
        return bool(frame.f_lasti < 0)
    resume = frame.f_lasti  # its argument is 0 at the beginning, and else what it waited for
    return not frame.f_code.co_code[resume + 1] & 3
