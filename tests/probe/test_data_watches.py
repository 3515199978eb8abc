"""What data breakpoints are made of, without a debugger, on every interpreter."""

from __future__ import annotations

import os
import subprocess

import pytest

import interpreters
from holdfast.targets.program.launcher import PROBE


@pytest.mark.parametrize("interpreter", interpreters.choose_interpreters(), ids=str)
def test_writes_are_noticed_alike_on_every_python(interpreter: interpreters.Interpreter) -> None:
    check = os.path.join(os.path.dirname(os.path.abspath(__file__)), "selfcheck_data.py")
    done = subprocess.run(
        [interpreter.path, "-I", "-W", "error", check, str(PROBE)],
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("ok\n", "")
