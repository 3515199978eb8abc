"""Runs a piece of code in another process: `code_injector.py PID DEBUGPY_DIR [LIBRARY] < code`.

`LIBRARY` is where debugpy's library is for the process, if it does not see ours.

It runs in a process of its own, because gdb and lldb are slow, print text, and fail in many ways.
On Python 3.14 `sys.remote_exec` does the same without them.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable


def main() -> None:
    pid, debugpy_dir, code = int(sys.argv[1]), sys.argv[2], sys.stdin.read()
    remote_exec: Callable[[int, str], None] | None = getattr(sys, "remote_exec", None)
    sees_our_files = len(sys.argv) == 3
    if remote_exec is not None and sees_our_files and _inject_remotely(remote_exec, pid, code):
        return
    sys.path.insert(
        0, os.path.join(debugpy_dir, "debugpy/_vendored/pydevd/pydevd_attach_to_process")
    )
    import add_code_to_python_process as injector

    if not sees_our_files:
        injector.get_target_filename = lambda *_args, **_options: sys.argv[3]

    # The text passes through a shell and gdb: no quotes and no line ends.
    codes = ",".join(map(str, code.encode()))
    injector.run_python_code(pid, f"exec(bytes([{codes}]).decode(),{{}})")


def _inject_remotely(remote_exec: Callable[[int, str], None], pid: int, code: str) -> bool:
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
