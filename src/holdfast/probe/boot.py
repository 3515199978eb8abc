"""The start-up of a target, in one of two ways.

    python boot.py SOCKET_FD DEBUGPY_DIR CHILD_TICKET GEVENT [FD]   a program that the server starts
    python boot.py --join TICKET DEBUGPY_DIR ARGUMENT...            one that the program started

A ticket is the path of a file (see `join_ticket`), or empty where children are not followed.

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

    here = os.path.dirname(os.path.abspath(__file__))
    try:
        path = os.path.join(here, "package_loader.py")
        namespace = dict(globals(), __name__="_holdfast_loader")
        with open(path, encoding="utf-8") as file:
            exec(compile(file.read(), path, "exec"), namespace)
        program_runner = namespace["load_module"](here, "program_runner")
    except Exception:
        if sys.argv[1] != "--join":
            raise
        os.execv(sys.executable, [sys.executable] + sys.argv[4:])

    if sys.argv[1] == "--join":
        program_runner.run_child(sys.argv[2], sys.argv[3], sys.argv[4:])
    else:
        program_runner.run_program(
            int(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4] == "gevent", sys.argv[5:]
        )
