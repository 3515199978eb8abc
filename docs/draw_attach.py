"""Draws docs/pictures/agent-attach.svg from the real program.

    .venv/bin/python docs/draw_attach.py

It runs `examples/agent_loop.py`, holds it before the tool `pay`, opens the screen of
`holdfast agent attach` without a terminal, and saves what the screen shows.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from holdfast.cli.agents.agent_screen import AgentScreen
from holdfast.recording import command_sender
from holdfast.recording.directories import SessionDirectory

ROOT = Path(__file__).parents[1]
PICTURE = ROOT / "docs" / "pictures" / "agent-attach.svg"
AGENT = [sys.executable, "-u", str(ROOT / "examples" / "agent_loop.py"), "--slow"]
SIZE = (112, 30)
MAX_SECONDS = 60


def main() -> None:
    with tempfile.TemporaryDirectory(prefix="holdfast-") as folder:
        env = {**os.environ, "HOLDFAST_AGENT_DIR": folder}
        agent = subprocess.Popen(AGENT, env=env, stdout=subprocess.PIPE, text=True)
        try:
            assert agent.stdout is not None
            session_id = agent.stdout.readline().split()[-1]
            home = SessionDirectory(Path(folder) / "sessions" / session_id)
            rule = {"action": "add", "on": "tool", "name": "pay"}
            command_sender.send_command(home, "breakpoint", rule)
            drawing = asyncio.run(draw(home))
        finally:
            agent.kill()
            agent.communicate()
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(drawing, encoding="utf-8")


async def draw(home: SessionDirectory) -> str:
    """Return the screen as an SVG document once the agent is held."""
    app = AgentScreen(home)
    deadline = time.monotonic() + MAX_SECONDS
    async with app.run_test(size=SIZE) as pilot:
        while "held before tool pay" not in read_text(app.export_screenshot()):
            assert time.monotonic() < deadline, "the agent was never held"
            await pilot.pause(0.1)
        svg = app.export_screenshot(title="holdfast agent attach")
    # A picture in a README must not load a font from another host.
    return re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)


def read_text(svg: str) -> str:
    """Return the words of an SVG document, with single spaces."""
    return " ".join(re.sub(r"<[^>]+>", " ", svg).replace("&#160;", " ").split())


if __name__ == "__main__":
    main()
