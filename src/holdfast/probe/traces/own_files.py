"""Which files are the program's own code: those below its roots, without installed packages."""

from __future__ import annotations

import os
import sysconfig
from typing import Dict, Iterable, Tuple

_NOT_OWN = ("site-packages", "dist-packages", ".venv", ".tox", ".nox", "__pypackages__")
_MAX_FILES = 20_000  # names to remember; a program may make up any number
_STANDARD = tuple(
    os.path.realpath(path) + os.sep
    for path in {sysconfig.get_path("stdlib"), sysconfig.get_path("platstdlib")}
    if path
)


def _find_package() -> str:
    """The directory of the debugger: `holdfast`, or the probe alone."""
    probe = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))
    package = os.path.dirname(probe)
    return (package if os.path.basename(package) == "holdfast" else probe) + os.sep


_PACKAGE = _find_package()


class OwnFiles:
    """Decides by the name of a file whether it is the program's own."""

    def __init__(self, roots: Iterable[str]) -> None:
        self.roots: Tuple[str, ...] = tuple(os.path.realpath(root) + os.sep for root in roots)
        self._known: Dict[str, str] = {}

    def find_path(self, name: str) -> str:
        """The path of a file of the program, or "" if it is none."""
        path = self._known.get(name)
        if path is None:
            if len(self._known) >= _MAX_FILES:
                self._known.clear()
            path = self._known[name] = self._decide(name)
        return path

    def _decide(self, name: str) -> str:
        if name.startswith("<"):
            return ""
        path = os.path.realpath(name)
        if path.startswith(_PACKAGE):
            return ""
        return path if any(self._is_below(path, root) for root in self.roots) else ""

    def _is_below(self, path: str, root: str) -> bool:
        if not path.startswith(root):
            return False
        if any(path.startswith(each) and not root.startswith(each) for each in _STANDARD):
            return False
        return not any(part in _NOT_OWN for part in path[len(root) :].split(os.sep))
