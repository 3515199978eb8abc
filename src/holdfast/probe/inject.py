"""Bringing the probe into a process where debugpy runs already (attached, or a child)."""

from __future__ import annotations

import os
import sys
from typing import Any, Dict

from . import bounded, debugger


def inject(follow: bool) -> Dict[str, Any]:
    """Install the probe beside the debugger that is here; doing it again changes nothing."""
    import pydevd

    db = debugger.current()
    debugger.locate_debugpy(os.path.dirname(os.path.abspath(pydevd.__file__)))
    bounded.prepare()
    debugger.install_patches()
    debugger.adopt(db)
    if not getattr(sys, "_holdfast_watched", False):
        from . import children

        sys._holdfast_watched = True  # type: ignore[attr-defined]
        connection = getattr(db, "_client_socket", None)
        children.watch(follow=follow, connection=connection)
    return {"pid": os.getpid(), "version": list(sys.version_info[:3])}
