"""Which files are a program's own, as far as the command says that runs it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from holdfast.service.tools.programs.run_plan import RunPlan
from holdfast.service.tools.project_files import find_by_suffix, list_sources

_MAIN = "__main__.py"


@dataclass(frozen=True)
class OwnFiles:
    """The files that a command names, and the project that they are part of."""

    main: str | None
    """The file that runs first, if that is one of the program's own: pytest is a library."""
    named: tuple[str, ...]
    """The script, the files of the package, or the files of tests."""
    root: str
    """The directory of the project."""


def find_own_files(plan: RunPlan) -> OwnFiles:
    launch, cwd = plan.launch, plan.cwd
    if launch.script is not None:
        return _find_script_files(plan, os.path.expanduser(launch.script))
    if launch.module == "pytest":
        return OwnFiles(None, tuple(_list_tests(launch.args, cwd)), cwd)
    if launch.module is not None:
        return _find_module_files(plan, launch.module)
    return OwnFiles(None, (), cwd)


def _find_script_files(plan: RunPlan, script: str) -> OwnFiles:
    path = os.path.abspath(os.path.join(plan.cwd, script))
    if os.path.dirname(path) == os.path.dirname(plan.environment.interpreter.path):
        return OwnFiles(None, (), plan.cwd)  # a console script of the environment
    is_inside = path.startswith(os.path.join(plan.cwd, ""))
    if os.path.isdir(path):
        root = plan.cwd if is_inside else path
        return OwnFiles(os.path.join(path, _MAIN), tuple(list_sources(path)), root)
    return OwnFiles(path, (path,), plan.cwd if is_inside else os.path.dirname(path))


def _list_tests(args: tuple[str, ...], cwd: str) -> Iterator[str]:
    for argument in args:
        path = os.path.join(cwd, argument.partition("::")[0])
        if argument.startswith("-"):
            continue
        if os.path.isdir(path):
            yield from list_sources(path)
        elif os.path.isfile(path):
            yield path


def _find_module_files(plan: RunPlan, module: str) -> OwnFiles:
    inner = os.path.join(*module.split("."))
    for end in (os.path.join(inner, _MAIN), f"{inner}.py"):
        main = _find_below(plan, end)
        if main is not None:
            top = os.path.join(main.removesuffix(end), module.partition(".")[0])
            files = list_sources(top) if os.path.isdir(top) else [main]
            return OwnFiles(main, tuple(files), plan.cwd)
    return OwnFiles(None, (), plan.cwd)  # a module of a library, such as unittest


def _find_below(plan: RunPlan, end: str) -> str | None:
    """The file of a module, where Python looks for it first, or anywhere in the project."""
    for folder in (plan.cwd, *_read_python_path(plan.launch.env), os.path.join(plan.cwd, "src")):
        path = os.path.abspath(os.path.join(plan.cwd, folder, end))
        if os.path.isfile(path):
            return path
    found = find_by_suffix(plan.cwd, end)
    return found[0] if len(found) == 1 else None


def _read_python_path(changes: Mapping[str, str | None]) -> list[str]:
    given = changes.get("PYTHONPATH", os.environ.get("PYTHONPATH"))
    return list(filter(None, (given or "").split(os.pathsep)))
