"""The monitor of lines, on Pythons that have `sys.monitoring`."""

from __future__ import annotations

import subprocess

from holdfast.targets.program.launcher import DEBUGPY, PROBE

CODE = f"""
import sys
with open({str(PROBE / "package_loader.py")!r}, encoding="utf-8") as file:
    exec(compile(file.read(), "package_loader", "exec"), namespace := {{"__name__": "loader"}})
namespace["load_module"]({str(PROBE)!r}, "pydevd_control").load({DEBUGPY!r})
from _holdfast import line_monitor
print((line_monitor.get_monitor() is None) == (not hasattr(sys, "monitoring")))
"""


def test_breakpoints_that_come_before_pydevd_has_started_are_monitored(python: str) -> None:
    # pydevd's own breakpoints are slow, and take equal code of two files for the same.
    done = subprocess.run([python, "-c", CODE], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ("True\n", "")
