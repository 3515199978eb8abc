"""Runs a piece of code inside another process: `python code_injector.py PID DEBUGPY_DIR < code`.

A process of its own, because the debugger that it calls (gdb or lldb) takes its time, prints, and
may fail in its own ways. Python 3.14 can be asked directly by a Python of the same version.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable


def main() -> None:
    pid, debugpy_dir, code = int(sys.argv[1]), sys.argv[2], sys.stdin.read()
    remote_exec: Callable[[int, str], None] | None = getattr(sys, "remote_exec", None)
    if remote_exec is not None and _asked(remote_exec, pid, code):
        return
    sys.path.insert(
        0, os.path.join(debugpy_dir, "debugpy/_vendored/pydevd/pydevd_attach_to_process")
    )
    from add_code_to_python_process import run_python_code

    # It passes through a shell and gdb: no quotes, no line ends, and no names left in `__main__`.
    listed = ",".join(map(str, code.encode()))
    run_python_code(pid, f"exec(bytes([{listed}]).decode(),{{}})")


def _asked(remote_exec: Callable[[int, str], None], pid: int, code: str) -> bool:
    with tempfile.NamedTemporaryFile("w", suffix=".py", delete=False) as file:
        file.write(f"import os\nos.remove({file.name!r})\nexec({code!r}, {{}})\n")
    try:
        remote_exec(pid, file.name)
    except (OSError, RuntimeError, ValueError):
        os.remove(file.name)
        return False
    return True


if __name__ == "__main__":
    main()
