"""The gate: a small process that becomes a command once the server says so.

It is run as `python -I -S exec_gate.py <descriptor> <locale> <command> ...`. The descriptor is a
socket. When a byte comes from it, the process executes the command; if it closes before, the
command never runs. So the server can tag the process before the command can start others. An error
number is sent back if it cannot be executed.

In a C locale, Python changes its variable LC_CTYPE. `<locale>` says what the command is to have:
`LC_CTYPE=` and the value, or just the name if it is not to be set.
"""

from __future__ import annotations

import os
import sys
from _signal import (  # type: ignore[import-not-found]  # `signal` brings `enum` with it
    SIG_DFL,
    SIGPIPE,
    SIGXFSZ,
    signal,
)
from errno import ENOENT


def main() -> None:
    descriptor, locale, *command = sys.argv[1:]
    gate = int(descriptor)
    os.set_inheritable(gate, False)
    if not os.read(gate, 1):
        return
    name, is_set, value = locale.partition("=")
    if is_set:
        os.environ[name] = value
    else:
        os.environ.pop(name, None)
    # Python ignores these, and a command would inherit that.
    for number in (SIGPIPE, SIGXFSZ):
        signal(number, SIG_DFL)
    try:
        os.execvp(command[0], command)
    except OSError as problem:
        os.write(gate, str(problem.errno).encode())
    except ValueError:  # it has no name
        os.write(gate, str(ENOENT).encode())


if __name__ == "__main__":
    main()
