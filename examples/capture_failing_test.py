"""A failing test leaves a capture: the values in its assertion, and the variables where it failed.

    python examples/capture_failing_test.py

On the command line: `pytest --holdfast`, then `holdfast captures latest`. This needs pytest.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
TEST = """
from buggy_cart import Cart, describe

def test_describing_changes_nothing():
    cart = Cart()
    cart.add("tea", 6)
    before = cart.total
    describe(cart)
    assert cart.total == before
"""


def run(folder: str, *words: str) -> str:
    environ = {**os.environ, "HOLDFAST_HOME": folder, "PYTHONPATH": str(HERE)}
    command = [sys.executable, "-m", *words]
    return subprocess.run(command, cwd=folder, env=environ, capture_output=True, text=True).stdout


with tempfile.TemporaryDirectory() as folder:
    Path(folder, "test_cart.py").write_text(TEST, encoding="utf-8")
    run(folder, "pytest", "--holdfast", "-q", "test_cart.py")
    capture = json.loads(run(folder, "holdfast", "captures", "latest", "--json"))

print("failed:", capture["node"])
for operand in capture["assertion"]["operands"][:2]:
    print(" ", operand["name"], "=", operand["value"])
for value in capture["exception"]["frames"][0]["locals"]:
    print("variable:", value["name"], "=", value["value"])
