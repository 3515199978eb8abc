"""Finds the functions that come nearest to a name that no function has."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterable, Sequence

from holdfast.core import function_finder
from holdfast.service.programs.source_files import SourceFiles
from holdfast.service.tools.project_files import list_sources

_MAX_NEAR = 3
_CLOSE = 0.6
_MAX_PARSED = 10
_DEFINED = re.compile(r"^[ \t]*(?:async[ \t]+def|def|class)[ \t]+(\w+)", re.MULTILINE)


def list_near_in_source(text: str, qualname: str) -> list[str]:
    """The functions of a source whose names come nearest to a name, the nearest first."""
    return _pick_near([each.path for each in function_finder.list_functions(text)], [qualname])


def list_near(sources: SourceFiles, folder: str, name: str) -> list[str]:
    """The functions below a directory that come nearest to a dotted name, as places to stop at."""
    wanted = [qualname for _module, qualname in function_finder.candidates(name)]
    places: dict[str, list[str]] = {}
    for path in _list_likely(sources, folder, name.split(".")):
        source = sources.get(path)
        functions = function_finder.list_functions(source.analysis.text) if source else ()
        for each in functions:
            places.setdefault(each.path, []).append(f"{os.path.relpath(path, folder)}:{each.path}")
    near = [place for each in _pick_near(places, wanted) for place in places[each]]
    return list(dict.fromkeys(near))[:_MAX_NEAR]


def _list_likely(sources: SourceFiles, folder: str, parts: Sequence[str]) -> list[str]:
    """The files that define something by such a name. Only those are worth parsing."""
    files: dict[str, list[str]] = {}
    for path in list_sources(folder):
        for name in set(_DEFINED.findall(sources.read_text(path) or "")):
            files.setdefault(name, []).append(path)
    near = [*parts[-2:-1], *difflib.get_close_matches(parts[-1], files, _MAX_NEAR, _CLOSE)]
    return list(dict.fromkeys(path for name in near for path in files.get(name, ())))[:_MAX_PARSED]


def _pick_near(names: Iterable[str], wanted: Iterable[str]) -> list[str]:
    """Those that look like one of the wanted, and the methods of a class that is wanted."""
    ranks: dict[str, tuple[bool, float]] = {}
    known = list(names)
    for given in wanted:
        owner, _, bare = given.rpartition(".")
        for name in known:
            owner_of_name, _, bare_name = name.rpartition(".")
            is_sibling = bool(owner) and owner_of_name == owner
            likeness = difflib.SequenceMatcher(None, bare_name, bare).ratio()
            if is_sibling or likeness >= _CLOSE:
                ranks[name] = max(ranks.get(name, (False, 0.0)), (is_sibling, likeness))
    return sorted(ranks, key=lambda name: ranks[name], reverse=True)[:_MAX_NEAR]
