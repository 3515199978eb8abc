"""Record a call, replay it against changed code, and keep it as a test."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from example_server import request, running_server

PROGRAM = """
from dataclasses import dataclass
from holdfast import with_debug

@dataclass
class Order:
    item: str
    count: int

def cost(order: Order) -> int:
    return {"tea": 3, "cake": 5}[order.item] * order.count

if __name__ == "__main__":
    info = with_debug("ON")
    with_debug(cost)(Order("tea", 2))
    print(info.session_id())
"""


def main() -> None:
    with running_server() as url, tempfile.TemporaryDirectory() as folder:
        script = Path(folder) / "orders.py"
        script.write_text(PROGRAM)

        def run(*arguments: str) -> subprocess.CompletedProcess[str]:
            env = {**os.environ, "HOLDFAST_SERVER_URL": url}
            command = [sys.executable, *arguments]
            return subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)

        session_id = run("orders.py").stdout.strip()
        [call] = request(url, "GET", f"/api/calls?session={session_id}")["calls"]
        print("recorded:", call["args"][0]["text"], "costs", call["result"]["text"])

        test = run("-m", "holdfast", "calls", "test", call["call_id"]).stdout
        (Path(folder) / "test_orders.py").write_text(test)
        print("the test passes:", run("-m", "pytest", "-q", "test_orders.py").returncode == 0)

        script.write_text(PROGRAM.replace('"tea": 3', '"tea": 10'))
        print("the test fails:", run("-m", "pytest", "-q", "test_orders.py").returncode == 1)
        print(run("-m", "holdfast", "calls", "replay", call["call_id"]).stdout, end="")


if __name__ == "__main__":
    main()
