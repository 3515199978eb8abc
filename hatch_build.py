"""A hook of the package's build: it puts the page into what is built (`web/page_build.py`).

Set `HOLDFAST_PAGE=0` to build without it.
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

sys.path.insert(0, str(Path(__file__).resolve().parent / "web"))

import page_build


class PageHook(BuildHookInterface[Any]):
    PLUGIN_NAME = "custom"

    def dependencies(self) -> list[str]:
        is_needed = _is_wanted() and not page_build.is_built() and page_build.needs_node()
        return [page_build.NODE_REQUIREMENT] if is_needed else []

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        if not _is_wanted() or page_build.is_built():
            return
        started = time.monotonic()
        try:
            page_build.build_page()
        except page_build.PageNotBuilt as problem:
            if version != "editable":
                raise  # nobody should publish a package without its page by mistake
            page_build.PROBLEM.write_text(str(problem))
            self.app.display_warning(f"the page was not built: {problem}")
            return
        self.app.display_info(f"built the page in {time.monotonic() - started:.0f} s")


def _is_wanted() -> bool:
    return os.environ.get("HOLDFAST_PAGE", "1") != "0"
