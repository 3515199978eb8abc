"""Finds out which function a trace is to follow, before anything runs."""

from __future__ import annotations

import asyncio
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.core import function_finder
from holdfast.errors import InvalidPlace
from holdfast.service.tools.function_advice import list_near
from holdfast.service.tools.programs.own_files import OwnFiles
from holdfast.service.tools.project_files import list_sources

if TYPE_CHECKING:
    from holdfast.service.debugger import Debugger

_MADE_AT_RUN_TIME = re.compile(r"\b(?:exec|eval|compile|FunctionType)\s*\(")


@dataclass(frozen=True)
class TracedFunction:
    """A function by its name, and what is known of it beforehand."""

    name: str
    is_own: bool = False
    """Whether it is one of the script that runs."""
    is_static: bool = True
    """Whether a source file defines it. Others are made when the program runs."""


async def find_function(debugger: Debugger, own: OwnFiles, name: str) -> TracedFunction:
    """What a name means in this program. InvalidPlace if nothing in it can have that name."""
    problem = function_finder.find_problem(name)
    if problem is not None or function_finder.is_pattern(name):
        raise InvalidPlace(
            problem or f"{name} is a pattern: a trace follows one function",
            hint="Write `func`, `module.func` or `Class.method`.",
            field="function",
        )
    if own.main is not None and _defines(debugger, own.main, name):
        return TracedFunction(name, is_own=True)
    if await _is_defined(debugger, own, name):
        return TracedFunction(name, is_static=not _makes_code(debugger, own.main))
    if "." in name and not _is_script_member(debugger, own, name):
        return TracedFunction(name)  # of a library, as far as anybody knows
    if not await _has_dynamic_code(debugger, own):
        raise _refuse(debugger, own, name)
    return TracedFunction(name, is_own=own.main is not None, is_static=False)


def _defines(debugger: Debugger, file: str, qualname: str) -> bool:
    source = debugger.programs.sources.get(file)
    return source is not None and bool(function_finder.find(source.analysis.text, qualname))


async def _is_defined(debugger: Debugger, own: OwnFiles, name: str) -> bool:
    """Whether a file of the project defines it, under any reading of its dotted name."""
    qualnames = {qualname for _module, qualname in function_finder.candidates(name)}
    words = re.compile(rf"\b{re.escape(name.rpartition('.')[2])}\b")
    for file in dict.fromkeys([*own.named, *list_sources(own.root)]):
        await asyncio.sleep(0)  # reading takes time, and the server has other clients
        text = debugger.programs.sources.read_text(file) or ""
        if words.search(text) and any(_defines(debugger, file, one) for one in qualnames):
            return True
    return False


def _is_script_member(debugger: Debugger, own: OwnFiles, name: str) -> bool:
    """Whether a dotted name begins with a class of the script, so that it is no library's."""
    text = (debugger.programs.sources.read_text(own.main) if own.main else None) or ""
    return re.search(rf"^class {re.escape(name.partition('.')[0])}\b", text, re.M) is not None


async def _has_dynamic_code(debugger: Debugger, own: OwnFiles) -> bool:
    for file in dict.fromkeys([*own.named, *list_sources(own.root)]):
        await asyncio.sleep(0)
        if _makes_code(debugger, file):
            return True
    return False


def _makes_code(debugger: Debugger, file: str | None) -> bool:
    """Whether a file may make functions that no source has."""
    text = debugger.programs.sources.read_text(file) if file else None
    return _MADE_AT_RUN_TIME.search(text or "") is not None


def _refuse(debugger: Debugger, own: OwnFiles, name: str) -> InvalidPlace:
    near = list_near(debugger.programs.sources, own.root, name)
    hint = f"Near: {', '.join(near)}." if near else "debug_trace without it shows which there are."
    return InvalidPlace(
        f"no function {function_finder.shorten(name)} in this program", hint=hint, field="function"
    )
