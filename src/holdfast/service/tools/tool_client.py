"""Who calls a tool: where it works, its environment, and what it has been shown."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field

from holdfast.service.tools.reports.report_memory import ReportMemory
from holdfast.wire.plain_text import clean_line


@dataclass(eq=False)
class ToolClient:
    """One client of the tools. Reports say what changed since the last one that it got."""

    name: str = "tools"
    """Who decides, as events say it."""
    cwd: str | None = None
    """The directory that it works in: paths are relative to it. None: it has told none."""
    environ: Mapping[str, str] | None = None
    """Its environment variables, which programs that it runs get. None: those of the server."""
    memory: ReportMemory = field(default_factory=ReportMemory)
    started: list[str] = field(default_factory=list)
    """The sessions that it has started, oldest first."""
    is_gone: bool = False
    """Whether its connection has ended, and what it started ends with it."""
    running: set[str] = field(default_factory=set)
    """The sessions whose programs run, as far as it knows: it was told of no stop since."""

    def show_path(self, path: str) -> str:
        """A path as this client would write it."""
        if self.cwd is None or path.startswith("<"):  # a name like <string> is no path
            return path
        inside = os.path.relpath(path, self.cwd)
        return path if inside.startswith("..") else inside

    def show_place(self, file: str, line: int) -> str:
        """A place as this client would write it: `file:line`."""
        return f"{clean_line(self.show_path(file))}:{line}"

    def find_path(self, path: str) -> str:
        """The absolute path that this client means."""
        return os.path.abspath(os.path.join(self.cwd or os.getcwd(), os.path.expanduser(path)))
