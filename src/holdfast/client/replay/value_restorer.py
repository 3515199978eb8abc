"""Restores recorded values with the classes and functions of the current program."""

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
from holdfast.client.storage_refusals import describe_error

_MAIN = ("__main__", "__mp_main__")


class CannotReplay(Exception):
    """Why the call cannot be made again."""


class Program:
    """The current modules of the recorded program. Its script is imported, not run as main."""

    def __init__(self, script: str | None, module: str | None) -> None:
        self._script = script
        self._module = module
        self._main: types.ModuleType | None = None

    def find(self, module: str, qualname: str) -> Any:
        """What has this name now; None if nothing has, or if it is local to a function."""
        if "<" in qualname:
            return None
        try:
            value: Any = self.main() if module in _MAIN else importlib.import_module(module)
        except ImportError:
            return None
        for part in qualname.split("."):
            value = getattr(value, part, None)
        return value

    def find_current(self, thing: Any) -> Any:
        """A class or function that was stored by value, as the program has it now."""
        if not isinstance(thing, type) and type(thing) is not types.FunctionType:
            return None
        current = self.find(str(thing.__module__), thing.__qualname__)
        is_same_kind = isinstance(current, type) == isinstance(thing, type) and callable(current)
        return current if is_same_kind else None

    def main(self) -> types.ModuleType:
        if self._main is None:
            self._main = self._import_main()
        return self._main

    def _import_main(self) -> types.ModuleType:
        name = self.main_name()
        if self._script is None or name is None:
            raise CannotReplay("it belongs to __main__, and the program was no script in a file")
        try:
            return _import_script(name, self._script)
        except Exception as problem:  # whatever the script raises when it is imported
            raise CannotReplay(
                f"{self._script} cannot be imported: {describe_error(problem)}"
            ) from problem
        except SystemExit as problem:
            raise CannotReplay(f"{self._script} ends when it is imported: {problem}") from problem

    def main_name(self) -> str | None:
        """The name of the script when it is imported."""
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


def _import_script(name: str, script: str) -> types.ModuleType:
    if all(part.isidentifier() for part in name.split(".")):
        try:
            module = importlib.import_module(name)
        except ModuleNotFoundError as problem:
            if problem.name != name:
                raise
        else:
            file = getattr(module, "__file__", None) or ""
            if os.path.realpath(file) == os.path.realpath(script):
                return module
    spec = importlib.util.spec_from_file_location(name, script)
    if spec is None or spec.loader is None:
        raise ImportError(f"{script} is no Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    spec.loader.exec_module(module)
    return module


class Restorer:
    """Restores values. Definitions that are stored by value are replaced by the program's own."""

    def __init__(self, fetch: Callable[[str], bytes], program: Program) -> None:
        self._fetch = fetch
        self._data: dict[str, bytes] = {}
        self._definitions: dict[str, Any] = {}
        self.program = program
        self.as_recorded: list[Any] = []  # classes and functions that only the recording has

    def data(self, cid: str) -> bytes:
        if cid not in self._data:
            self._data[cid] = self._fetch(cid)
        return self._data[cid]

    def value(self, cid: str, what: str) -> Any:
        """A new copy of the value. `what` names it in an error."""
        try:
            value = value_pickler.loads(self.data(cid), self.definition)
        except CannotReplay:
            raise
        except Exception as problem:  # unpickling runs the application's code
            raise CannotReplay(f"{what} cannot be restored: {describe_error(problem)}") from problem
        if isinstance(value, Omitted):
            raise CannotReplay(f"{what} was not stored: {value.why}")
        if value_pickler.has_omissions(self.data(cid)):
            raise CannotReplay(f"a part of {what} was not stored")
        current = self.program.find_current(value)
        if current is not None:
            return current
        if isinstance(value, type) or type(value) is types.FunctionType:
            self._note_recorded(value)
        return value

    def definition(self, cid: str) -> Any:
        if cid not in self._definitions:
            self._definitions[cid] = self._replace_definition(
                value_pickler.loads(self.data(cid), self.definition)
            )
        return self._definitions[cid]

    def _replace_definition(self, thing: Any) -> Any:
        if isinstance(thing, Omitted):
            module, _, name = thing.type.partition(".")
            current = self.program.find(module, name)
            if current is None:
                raise CannotReplay(f"{thing.type} was not stored: {thing.why}")
            return current
        current = self.program.find_current(thing)
        if current is None:
            self._note_recorded(thing)
            return thing
        return current

    def _note_recorded(self, thing: Any) -> None:
        module, name = getattr(thing, "__module__", None), getattr(thing, "__qualname__", None)
        if module and name and self.program.find(module, name) is not thing:
            self.as_recorded.append(thing)

    def is_as_recorded(self, thing: Any) -> bool:
        return any(recorded is thing for recorded in self.as_recorded)

    def references(self, cid: str) -> list[str]:
        """The ids that these bytes refer to."""
        cids: dict[str, None] = {}

        def refer(other: str) -> Any:
            cids[other] = None
            return self.definition(other)

        value_pickler.loads(self.data(cid), refer)
        return list(cids)
