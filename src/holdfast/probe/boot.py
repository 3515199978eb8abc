"""The start-up of a target: `python boot.py SOCKET_FD DEBUGPY_DIR CHILD_PORT`.

Everything that costs time (importing the debugger, starting its threads, enabling tracing) is
done before the program is known, so that an interpreter can be armed in advance.
"""

import os
import sys


def _load_probe() -> None:
    """Import this directory as `_holdfast`, without touching `sys.path`."""
    import importlib.util

    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        "_holdfast", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None
    assert spec.loader is not None
    package = importlib.util.module_from_spec(spec)
    sys.modules["_holdfast"] = package
    spec.loader.exec_module(package)


if __name__ == "__main__":
    _load_probe()
    from _holdfast import program

    program.become(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
