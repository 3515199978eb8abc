"""How a program is started, or attached to."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Launch:
    """A program to start: exactly one of `script`, `module` and `code`."""

    script: str | None = None
    module: str | None = None
    code: str | None = None
    args: tuple[str, ...] = ()
    env: Mapping[str, str | None] = field(default_factory=dict, hash=False)
    cwd: str | None = None
    pythonpath: tuple[str, ...] = ()
    python_path: str | None = None
    python_args: tuple[str, ...] = ()
    venv: str | None = None
    stdin_inputs: tuple[str, ...] = ()
    terminal: bool = False
    terminal_size: tuple[int, int] = (80, 24)
    stop_on_exception: bool | str = False
    stop_on_entry: bool = False
    just_my_code: bool = False
    debug_subprocesses: bool = False
    stop_all_threads: bool = True
    route: str = "auto"

    @property
    def target(self) -> str:
        return self.script or self.module or "-c"


@dataclass(frozen=True)
class LaunchChanges:
    """What the session launched before, or its original did, with other values in some fields."""

    fields: Mapping[str, Any] = field(default_factory=dict, hash=False)


@dataclass(frozen=True)
class Attach:
    """A program that already runs: a process of this machine, or a debugpy that listens."""

    pid: int | None = None
    host: str | None = None
    port: int | None = None
    just_my_code: bool = False
    debug_subprocesses: bool = False
    stop_all_threads: bool = True
    path_mappings: tuple[tuple[str, str], ...] = ()


Start = Launch | LaunchChanges | Attach
"""How a session gets its program."""


@dataclass(frozen=True)
class Experiment:
    """What the breakpoints of one run do at each hit, in place of a stop.

    A run with an experiment stops where a test fails, too."""

    collect: tuple[str, ...] = ()
    """Expressions: each hit is a row of their values."""
    until: str | None = None
    """Stop at the hit where this is true."""
    until_place: tuple[str, int] | None = None
    """Stop at the breakpoint there, whatever the others do."""
    max_hits: int | None = None
    """Stop at this hit."""


@dataclass(frozen=True)
class TraceOrder:
    """What the probe records of a run, and into which file."""

    path: str
    kind: str
    """`frame`: calls of one function; `run`: all of the program's own code; `calls`: the tree."""
    roots: tuple[str, ...]
    """Directories of the program's own code."""
    function: str | None = None
    is_own: bool = False
    """Whether the function is one of the script itself."""
    is_static: bool = True
    """Whether a source file defines the function."""
    call: int | None = None
    where: str | None = None
    raised: bool = False
    full: bool = False
    keep: str = "newest"
    """What of a run is kept when there is too much: its `newest` or its `oldest` part."""
    max_events: int = 200_000


@dataclass(frozen=True)
class Preparation:
    """What a request sets before its program starts. If the start is refused, it is unset again."""

    breakpoints: Sequence[Mapping[str, Any]] = ()
    strict: Sequence[bool] = ()
    """Of each breakpoint, whether its file must be there."""
    exception_filters: Sequence[str] | None = None
    """None: those of the session stay."""
    experiment: Experiment | None = None
    trace: TraceOrder | None = None


NO_PREPARATION = Preparation()
