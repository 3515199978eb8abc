"""The modules that the program has imported from files."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any, Dict, List

from .pydevd_access import is_ours


def list_modules(db: Any) -> List[Dict[str, Any]]:
    """In the order in which they were imported. Nothing of theirs is run to find this out."""
    listed = []
    for name, module in list(sys.modules.items()):
        if not isinstance(module, ModuleType) or type(name) is not str:
            continue
        file = ModuleType.__getattribute__(module, "__dict__").get("__file__")
        if type(file) is not str or file.startswith("<") or is_ours(file):
            continue
        listed.append(
            {
                "name": name,
                "file": file,
                "source": file.endswith((".py", ".pyw")),
                "library": not db.in_project_roots_filename_uncached(file),
            }
        )
    return listed
