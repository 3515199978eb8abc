"""What one sees of the demonstration: each request as one would type it, and its answer's gist."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

if TYPE_CHECKING:
    from holdfast.cli.demo import Finding, Step

_WIDTH = 96
_GIST = ("session_id", "breakpoint_id", "verified", "status", "result", "type", "deleted")


class View:
    def __init__(self, program: Path) -> None:
        # A terminal that cannot show a character gets another one, rather than no demonstration.
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="replace")
        plain = Console()
        wide = plain.is_terminal and plain.width < _WIDTH
        self._console = plain if wide else Console(width=_WIDTH)
        self._program = program
        self._number = 0
        self._locals: dict[str, str] = {}

    def introduce(self, url: str) -> None:
        code = Syntax(self._program.read_text(encoding="utf-8"), "python", line_numbers=True)
        self._console.print(Panel(code, title=self._program.name, title_align="left"))
        names = f"URL={url}  JSON='Content-Type: application/json'  S=<the session's id>"
        self._console.print(Text(names, style="dim"), soft_wrap=True)
        self._console.print()

    # -- one request ------------------------------------------------------------------------

    def step(self, step: Step) -> None:
        self._number += 1
        heading = Text.assemble((f"{self._number:2}  ", "bold cyan"), (step.why, "bold"))
        self._console.print(heading)
        self._console.print(Text("    " + self._curl(step), style="dim"), soft_wrap=True)
        cost = Text(f"{step.ms:g} ms, {step.bytes} bytes", style="dim")
        self._console.print(
            Panel(self._gist(step.answer), subtitle=cost, subtitle_align="right", padding=(0, 1))
        )

    def _curl(self, step: Step) -> str:
        _, *rest = step.path.strip("/").split("/")
        where = "/".join(["$URL/sessions", *(["$S", *rest[1:]] if rest else [])])
        parts = ["curl", "-X", step.method, where]
        if step.body is not None:
            said = json.dumps(step.body).replace(str(self._program), self._program.name)
            parts += ["-H", '"$JSON"', "-d", shlex.quote(said)]
        return " ".join(parts)

    def _gist(self, answer: Any) -> RenderableType:
        if "locals" in answer:
            return self._stop(answer)
        return Text(json.dumps({name: answer[name] for name in _GIST if name in answer}))

    def _stop(self, stop: Any) -> RenderableType:
        place, around = stop["location"], stop["source"]["context"]
        where = f"{stop['status']} at {self._program.name}:{place['line']} in {place['function']}"
        code = Syntax(
            "\n".join(each["text"] for each in around),
            "python",
            line_numbers=True,
            start_line=around[0]["line"],
            highlight_lines={place["line"]},
        )
        return Group(Text(f"{where} ({stop['reason']})", style="green"), code, self._changes(stop))

    def _changes(self, stop: Any) -> Text:
        """The locals; after a step, only those it changed."""
        now = {each["name"]: each["value"] for each in stop["locals"]}
        before, self._locals = self._locals, now
        if stop["reason"] == "step":
            parts = [
                f"{name}: {before[name]} → {value}"
                for name, value in now.items()
                if before.get(name, value) != value
            ]
            return Text("changed  " + (", ".join(parts) or "nothing"), style="yellow")
        return Text("locals   " + ", ".join(f"{name} = {value}" for name, value in now.items()))

    # -- the end ----------------------------------------------------------------------------

    def conclude(self, found: Finding, *, requests: int, ms: float, bytes: int) -> None:  # noqa: A002
        body = Text.assemble(
            (f"Found: {found.file}:{found.line}", "bold green"),
            (f"   {found.code}\n", "bold"),
            f"{found.explanation}\n",
            *(f"  · {each}\n" for each in found.evidence),
            (f"{requests} requests, {ms:g} ms, {bytes} bytes of answers.", "dim"),
        )
        self._console.print(Panel(body, border_style="green", padding=(0, 1)))
