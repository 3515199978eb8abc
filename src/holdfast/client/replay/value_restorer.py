"""Recorded values, with the classes and functions of the program as it is now."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import types
from collections.abc import Callable
from typing import Any

from holdfast.client import value_pickler
from holdfast.client.references import Omitted
from holdfast.client.snapshots import describe_error

_MAIN = ("__main__", "__mp_main__")


class CannotReplay(Exception):
    """Why the call cannot be made again."""


class Program:
    """The recorded program's modules as they are now. Its script is imported, not run as main."""

    def __init__(self, script: str | None, module: str | None) -> None:
        self._script = script
        self._module = module
        self._main: types.ModuleType | None = None

    def find(self, module: str, qualname: str) -> Any:
        """What has this name now; None if nothing has, or if it is made as the program runs."""
        if "<" in qualname:
            return None
        try:
            found: Any = self.main() if module in _MAIN else importlib.import_module(module)
        except ImportError:
            return None
        for part in qualname.split("."):
            found = getattr(found, part, None)
        return found

    def current(self, thing: Any) -> Any:
        """A class or function that was stored by value, as the program has it now."""
        if not isinstance(thing, type) and type(thing) is not types.FunctionType:
            return None
        found = self.find(str(thing.__module__), thing.__qualname__)
        same_kind = isinstance(found, type) == isinstance(thing, type) and callable(found)
        return found if same_kind else None

    def main(self) -> types.ModuleType:
        if self._main is None:
            self._main = self._import_main()
        return self._main

    def _import_main(self) -> types.ModuleType:
        name = self.main_name()
        if self._script is None or name is None:
            raise CannotReplay("it belongs to __main__, and the program was no script in a file")
        try:
            return _imported(name, self._script)
        except Exception as problem:  # whatever the script raises when it is imported
            raise CannotReplay(
                f"{self._script} cannot be imported: {describe_error(problem)}"
            ) from problem
        except SystemExit as problem:
            raise CannotReplay(f"{self._script} ends when it is imported: {problem}") from problem

    def main_name(self) -> str | None:
        """What the script is called when it is imported."""
        if self._module is not None:
            return self._module
        return None if self._script is None else dotted_name(self._script)[1]


def dotted_name(script: str) -> tuple[str, str]:
    """The directory to import from, and the module's name there, with its packages."""
    folder, name = os.path.split(os.path.splitext(os.path.abspath(script))[0])
    while os.path.exists(os.path.join(folder, "__init__.py")):
        folder, package = os.path.split(folder)
        name = f"{package}.{name}"
    return folder, name


def _imported(name: str, script: str) -> types.ModuleType:
    if all(part.isidentifier() for part in name.split(".")):
        try:
            found = importlib.import_module(name)
        except ModuleNotFoundError as problem:
            if problem.name != name:
                raise
        else:
            if os.path.realpath(getattr(found, "__file__", None) or "") == os.path.realpath(script):
                return found
    spec = importlib.util.spec_from_file_location(name, script)
    if spec is None or spec.loader is None:
        raise ImportError(f"{script} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Restorer:
    """Values of content ids. What is stored by value is replaced by what the program has now."""

    def __init__(self, fetch: Callable[[str], bytes], program: Program) -> None:
        self._fetch = fetch
        self._data: dict[str, bytes] = {}
        self._made: dict[str, Any] = {}
        self.program = program
        self.as_recorded: list[Any] = []  # classes and functions that only the recording has

    def data(self, cid: str) -> bytes:
        if cid not in self._data:
            self._data[cid] = self._fetch(cid)
        return self._data[cid]

    def value(self, cid: str, what: str) -> Any:
        """A new copy of the value; `what` says in a complaint which one it is."""
        try:
            found = value_pickler.loads(self.data(cid), self.definition)
        except CannotReplay:
            raise
        except Exception as problem:
            raise CannotReplay(f"{what} cannot be restored: {describe_error(problem)}") from problem
        if isinstance(found, Omitted):
            raise CannotReplay(f"{what} was not stored: {found.why}")
        current = self.program.current(found)
        if current is not None:
            return current
        if isinstance(found, type) or type(found) is types.FunctionType:
            self._note(found)
        return found

    def definition(self, cid: str) -> Any:
        if cid not in self._made:
            self._made[cid] = self._defined(value_pickler.loads(self.data(cid), self.definition))
        return self._made[cid]

    def _defined(self, thing: Any) -> Any:
        if isinstance(thing, Omitted):
            module, _, name = thing.type.partition(".")
            current = self.program.find(module, name)
            if current is None:
                raise CannotReplay(f"{thing.type} was not stored: {thing.why}")
            return current
        current = self.program.current(thing)
        if current is None:
            self._note(thing)
            return thing
        return current

    def _note(self, thing: Any) -> None:
        module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
        if module and name and self.program.find(module, name) is not thing:
            self.as_recorded.append(thing)

    def is_as_recorded(self, thing: Any) -> bool:
        return any(each is thing for each in self.as_recorded)

    def references(self, cid: str) -> list[str]:
        """The ids that these bytes refer to."""
        met: dict[str, None] = {}

        def refer(other: str) -> Any:
            met[other] = None
            return self.definition(other)

        value_pickler.loads(self.data(cid), refer)
        return list(met)
