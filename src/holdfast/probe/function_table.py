"""Which code objects the function breakpoints concern.

The server sends the places that it found in source files, and the names or the pattern to look for
in all others. Those are looked for in each module as it begins to run, before any of its functions
can be called, and in what is loaded already when a breakpoint is set. What is found is reported.
"""

from __future__ import annotations

import sys
import weakref
from typing import Any, Dict, FrozenSet, Iterable, List, Sequence, Tuple

from . import server_messages, thread_suspension
from .breakpoint_rules import STANDARD_LIBRARY, Rule, find_stopping, is_called_by_debugger
from .function_names import (
    LAMBDA,
    NameMatcher,
    find_attribute,
    list_loaded_functions,
    list_module_names,
    walk_functions,
)
from .pydevd_access import canonical, current, is_ours

_FUNCTION_BREAKPOINT = 208  # pydevd's CMD_SET_FUNCTION_BREAK
_MAX_FUNCTIONS = 10_000  # that one breakpoint finds by its name or pattern
_MAX_REPORTED = 100  # the server lists no more

_Place = Tuple[str, int, str]  # canonical file, first line, bare name


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
        self.is_open = not self.places or bool(function.get("pattern"))
        self.found = 0

    def has_lambda(self, file: str, line: int, qualname: str) -> bool:
        """Several lambdas may begin on one line, so that their place does not tell them apart."""
        return self.places.get((file, line, LAMBDA)) == qualname

    def note(self, file: str, code: Any, qualname: str) -> bool:
        """Report a function that was found. False if there are too many."""
        self.found += 1
        if self.found > _MAX_FUNCTIONS:
            return False
        place = (file, code.co_firstlineno, code.co_name)
        if place not in self.places and len(self.places) < _MAX_REPORTED:
            self.places[place] = qualname
            server_messages.report(
                "function_found",
                id=self.rule.id,
                file=file,
                line=code.co_firstlineno,
                name=code.co_name,
                qualname=qualname,
            )
        return True


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
        self._by_code: Dict[int, Tuple[Any, List[Rule]]] = {}
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

    def find_rules(self, code: Any) -> Sequence[Rule]:
        """The rules that concern a function."""
        known = self._by_code.get(id(code))
        rules = known[1] if known is not None else ()
        here = self._by_place.get((code.co_firstlineno, code.co_name))
        if here is None:
            return rules
        file = canonical(code.co_filename)
        return [*rules, *(rule for place, rule in here if place == file and rule not in rules)]

    def list_bare_names(self) -> Dict[str, int]:
        """The bare name of each function found so far, and the id of a rule for it."""
        places = ((place[2], s.rule.id) for s in self._searches for place in s.places)
        return dict(places)

    def may_concern(self, file: str, names: Dict[str, Any]) -> bool:
        """Whether functions of this file (a canonical path) are to be looked at."""
        if file in self.files:
            return True
        modules, is_library = list_module_names(names), self._is_library(file, names)
        return any(s.matcher.may_match_in(modules, is_library) for s in self._searches)

    # -- looking for functions ------------------------------------------------------------------

    def search_module(self, frame: Any) -> None:
        """Look through a module that is about to run."""
        code, names = frame.f_code, frame.f_globals
        file = canonical(code.co_filename)
        if is_ours(code.co_filename) or not self.may_concern(file, names):
            return
        for inner, qualname in walk_functions(code):
            self._check(self._searches, inner, names, qualname)

    def _search_loaded(self, searches: Sequence[_Search]) -> None:
        """Look through what was loaded before, the script first."""
        for top in list(sys._current_frames().values()):
            frame: Any = top
            while frame is not None:
                if frame.f_code.co_name == "<module>":
                    self.search_module(frame)
                frame = frame.f_back
        functions = [
            (code, names, qualname)
            for code, names, qualname in list_loaded_functions()
            if any(search.matcher.may_match(qualname) for search in searches)
        ]
        functions.sort(key=lambda each: each[1].get("__name__") != "__main__")
        for code, names, qualname in functions:
            self._check(searches, code, names, qualname)
        for search in searches:
            for module, qualname in search.names:
                for function in find_attribute(module, qualname):
                    self._add(search, function.__code__, qualname)

    def _check(
        self, searches: Iterable[_Search], code: Any, names: Dict[str, Any], qualname: str
    ) -> None:
        modules = list_module_names(names)
        file = canonical(code.co_filename)
        is_library = self._is_library(file, names)
        for search in searches:
            matcher, line = search.matcher, code.co_firstlineno
            if matcher.matches(modules, qualname, is_library):
                if "__main__" in modules and matcher.is_any(qualname):
                    matcher.close_to("__main__", qualname)
                self._add(search, code, qualname)
            elif code.co_name == LAMBDA and search.has_lambda(file, line, qualname):
                self._add(search, code, qualname)

    def _add(self, search: _Search, code: Any, qualname: str) -> None:
        number = id(code)
        known = self._by_code.get(number)
        if is_ours(code.co_filename) or (known is not None and search.rule in known[1]):
            return
        file = canonical(code.co_filename)
        if not search.note(file, code, qualname):
            return
        if known is None:
            reference = weakref.ref(code, lambda _: self._by_code.pop(number, None))
            known = self._by_code[number] = (reference, [])
        known[1].append(search.rule)
        if file not in self.files:
            self.files |= {file}

    def _is_library(self, file: str, names: Dict[str, Any]) -> bool:
        """Whether a file is none of the user's; generated code belongs to its module."""
        if file.startswith("<"):
            origin = names.get("__file__")
            if not isinstance(origin, str):
                return False
            file = canonical(origin)
        known = self._libraries.get(file)
        if known is None:
            db = current()
            known = db is not None and not db._files_filtering.in_project_roots(file)
            self._libraries[file] = known
        return known


FUNCTIONS = FunctionTable()


def enter_function(frame: Any, rules: Sequence[Rule]) -> None:
    """A function begins: stop there if a rule says so."""
    code = frame.f_code
    if canonical(code.co_filename).startswith(STANDARD_LIBRARY) and is_called_by_debugger(frame):
        return
    stopping = find_stopping(rules, frame)
    if stopping:
        thread_suspension.stop_here(frame, stopping, _FUNCTION_BREAKPOINT, "call")


def find_entry_offset(code: Any) -> int:
    """`f_lasti` when a frame begins, and not when a generator goes on. For Python before 3.12."""
    if sys.version_info < (3, 11):
        return -1
    import dis

    starts = (each.offset for each in dis.get_instructions(code) if each.opname == "RESUME")
    return next(starts, 0)
