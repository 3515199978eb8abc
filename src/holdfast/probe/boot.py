"""The start-up of a target, in one of two ways.

    python boot.py SOCKET_FD DEBUGPY_DIR CHILD_PORT       a program that the server starts
    python boot.py --join PORT DEBUGPY_DIR ARGUMENT...    one that the program started: its child

For the first, everything that costs time (importing the debugger, starting its threads, enabling
tracing) is done before the program is known, so that an interpreter can be armed in advance. The
second has `python ARGUMENT...` to be, whatever happens: where it cannot be debugged it becomes
exactly that. This file has no annotations and no functions, for it must be understood by any
Python that somebody's program may start.
"""

import os
import sys

if __name__ == "__main__":
    if sys.argv[1] == "--join" and sys.version_info < (3, 9):
        os.execv(sys.executable, [sys.executable] + sys.argv[4:])

    # Import this directory as `_holdfast`, without touching `sys.path`.
    import importlib.util

    here = os.path.dirname(os.path.abspath(__file__))
    spec = importlib.util.spec_from_file_location(
        "_holdfast", os.path.join(here, "__init__.py"), submodule_search_locations=[here]
    )
    assert spec is not None
    assert spec.loader is not None
    for is_last_try in (False, True):
        try:
            sys.modules["_holdfast"] = importlib.util.module_from_spec(spec)
            spec.loader.exec_module(sys.modules["_holdfast"])
            from _holdfast import program_runner

            break
        except (EOFError, ValueError, TypeError):  # half a file of bytecode, left by a full disk
            if is_last_try:
                raise
            import shutil

            shutil.rmtree(os.path.join(here, "__pycache__"), ignore_errors=True)
            for name in [name for name in sys.modules if name.startswith("_holdfast.")]:
                del sys.modules[name]

    if sys.argv[1] == "--join":
        program_runner.run_child(int(sys.argv[2]), sys.argv[3], sys.argv[4:])
    else:
        program_runner.run_program(int(sys.argv[1]), sys.argv[2], int(sys.argv[3]))
