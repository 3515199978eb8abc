"""Prints the demo: each request as a curl command, and the main fields of its answer."""

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
_MAIN_FIELDS = ("session_id", "breakpoint_id", "verified", "status", "result", "type", "deleted")


class DemoView:
    def __init__(self, program: Path) -> None:
        # On a terminal that cannot show a character, print another one instead of failing.
        if hasattr(sys.stdout, "reconfigure"):
            sys.stdout.reconfigure(errors="replace")
        plain = Console()
        is_narrow = plain.is_terminal and plain.width < _WIDTH
        self._console = plain if is_narrow else Console(width=_WIDTH)
        self._program = program
        self._number = 0
        self._locals: dict[str, str] = {}

    def show_program(self, url: str) -> None:
        code = Syntax(self._program.read_text(encoding="utf-8"), "python", line_numbers=True)
        self._console.print(Panel(code, title=self._program.name, title_align="left"))
        names = f"URL={url}  JSON='Content-Type: application/json'  S=<the session's id>"
        self._console.print(Text(names, style="dim"), soft_wrap=True)
        self._console.print()

    # -- one request ------------------------------------------------------------------------

    def show_step(self, step: Step) -> None:
        self._number += 1
        heading = Text.assemble((f"{self._number:2}  ", "bold cyan"), (step.why, "bold"))
        self._console.print(heading)
        self._console.print(Text("    " + self._format_curl(step), style="dim"), soft_wrap=True)
        cost = Text(f"{step.ms:g} ms, {step.bytes} bytes", style="dim")
        self._console.print(
            Panel(
                self._format_answer(step.answer),
                subtitle=cost,
                subtitle_align="right",
                padding=(0, 1),
            )
        )

    def _format_curl(self, step: Step) -> str:
        _, *rest = step.path.strip("/").split("/")
        where = "/".join(["$URL/sessions", *(["$S", *rest[1:]] if rest else [])])
        parts = ["curl", "-X", step.method, where]
        if step.body is not None:
            body = json.dumps(step.body).replace(str(self._program), self._program.name)
            parts += ["-H", '"$JSON"', "-d", shlex.quote(body)]
        return " ".join(parts)

    def _format_answer(self, answer: Any) -> RenderableType:
        if "locals" in answer:
            return self._format_stop(answer)
        return Text(json.dumps({name: answer[name] for name in _MAIN_FIELDS if name in answer}))

    def _format_stop(self, stop: Any) -> RenderableType:
        place, around = stop["location"], stop["source"]["context"]
        where = f"{stop['status']} at {self._program.name}:{place['line']} in {place['function']}"
        code = Syntax(
            "\n".join(line["text"] for line in around),
            "python",
            line_numbers=True,
            start_line=around[0]["line"],
            highlight_lines={place["line"]},
        )
        return Group(
            Text(f"{where} ({stop['reason']})", style="green"), code, self._format_locals(stop)
        )

    def _format_locals(self, stop: Any) -> Text:
        """The locals, or after a step only those that it changed."""
        now = {variable["name"]: variable["value"] for variable in stop["locals"]}
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

    def show_finding(self, found: Finding, *, requests: int, ms: float, bytes: int) -> None:  # noqa: A002
        body = Text.assemble(
            (f"Found: {found.file}:{found.line}", "bold green"),
            (f"   {found.code}\n", "bold"),
            f"{found.explanation}\n",
            *(f"  · {fact}\n" for fact in found.evidence),
            (f"{requests} requests, {ms:g} ms, {bytes} bytes of answers.", "dim"),
        )
        self._console.print(Panel(body, border_style="green", padding=(0, 1)))
