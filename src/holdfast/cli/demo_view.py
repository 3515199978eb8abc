"""Prints the demo: the long way in a line for each request, the others with their answers."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.panel import Panel
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

from holdfast.cli.demo_trace import PAYMENTS, TracedFinding, render_answer

if TYPE_CHECKING:
    from holdfast.cli.demo import Finding, Step, Totals

_WIDTH = 96
_MAIN_FIELDS = ("session_id", "breakpoint_id", "verified", "status", "result", "deleted")


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
        self._show: Callable[[Step], None] = self._show_request
        self._locals: dict[str, str] = {}

    def show_program(self, url: str) -> None:
        code = Syntax(self._program.read_text(encoding="utf-8"), "python", line_numbers=True)
        self._console.print(Panel(code, title=self._program.name, title_align="left"))
        names = f"URL={url}  JSON='Content-Type: application/json'  S=<the session's id>"
        self._console.print(Text(names, style="dim"), soft_wrap=True)
        self._begin_part("Step by step, as a debugger is used:")

    def begin_one_call(self) -> None:
        self._show = self._show_run
        self._begin_part("The same bug with one call:")

    def begin_traces(self, program: Path) -> None:
        self._program = program
        self._show = self._show_answer
        self._begin_part("Another one, that reading does not show, with run, trace and why:")
        code = Syntax(program.read_text(encoding="utf-8"), "python", line_numbers=True)
        title = f"{program.name}, and a file of {PAYMENTS} payments"
        self._console.print(Panel(code, title=title, title_align="left"))

    def _begin_part(self, title: str) -> None:
        self._console.print()
        self._console.print(Text(title, style="bold underline"))

    # -- one request ------------------------------------------------------------------------

    def show_step(self, step: Step) -> None:
        self._show(step)

    def _show_request(self, step: Step) -> None:
        """The request, and what is new in its answer, in three lines."""
        self._number += 1
        heading = Text.assemble((f"{self._number:2}  ", "bold cyan"), (step.why, "bold"))
        self._console.print(heading)
        self._console.print(Text("    " + self._format_curl(step), style="dim"), soft_wrap=True)
        answer = Text.assemble(
            "    ",
            (self._format_answer(step.answer), "green"),
            (f"   {step.ms:g} ms, {step.bytes} bytes", "dim"),
        )
        self._console.print(answer, soft_wrap=True)

    def _format_curl(self, step: Step) -> str:
        path = step.path.partition("?")[0]
        if path.startswith("/sessions/"):
            path = "/".join(["/sessions/$S", *path.split("/")[3:]])
        parts = ["curl", "-X", step.method, f"$URL{path}"]
        if step.body is not None:
            body = json.dumps(step.body).replace(str(self._program), self._program.name)
            parts += ["-H", '"$JSON"', "-d", shlex.quote(body)]
        return " ".join(parts)

    def _format_answer(self, answer: Any) -> str:
        if "locals" in answer:
            return self._format_stop(answer)
        return json.dumps({name: answer[name] for name in _MAIN_FIELDS if name in answer})

    def _format_stop(self, stop: Any) -> str:
        place = stop["location"]
        where = f"{stop['status']} at {self._program.name}:{place['line']} ({stop['reason']})"
        return f"{where}  {self._format_locals(stop)}"

    def _format_locals(self, stop: Any) -> str:
        """The locals, or after a step only those that it changed."""
        now = {variable["name"]: variable["value"] for variable in stop["locals"]}
        before, self._locals = self._locals, now
        if stop["reason"] == "step":
            parts = [
                f"{name}: {before[name]} → {value}"
                for name, value in now.items()
                if before.get(name, value) != value
            ]
            return "changed " + (", ".join(parts) or "nothing")
        return ", ".join(f"{name} = {value}" for name, value in now.items())

    # -- one call ---------------------------------------------------------------------------

    def _show_run(self, step: Step) -> None:
        self._console.print(Text(f"    {step.why}", style="bold"))
        self._console.print(Text("    " + self._format_curl(step), style="dim"), soft_wrap=True)
        cost = Text(f"{step.ms:g} ms, {step.bytes} bytes", style="dim")
        answer = self._format_report(step)
        self._console.print(Panel(answer, subtitle=cost, subtitle_align="right", padding=(0, 1)))

    def _format_report(self, step: Step) -> RenderableType:
        report = step.answer
        names = ["at", *map(escape, step.body["collect"])]
        table = Table(*names, box=None, header_style="bold", pad_edge=False)
        for row in report["rows"]:
            table.add_row(*map(Text, row))
        head = f"{report['status']}, exit code {report['exit_code']}, {report['hits']} hits"
        return Group(Text(head, style="green"), table, Text(report["output"], style="dim"))

    # -- traces -----------------------------------------------------------------------------

    def _show_answer(self, step: Step) -> None:
        """The request as a command, and the answer as an agent reads it."""
        self._console.print(Text(f"    {step.why}", style="bold"))
        self._console.print(Text("    " + _format_command(step), style="dim"), soft_wrap=True)
        cost = Text(f"{step.ms:g} ms, {step.bytes} bytes", style="dim")
        text = Text(render_answer(step.path, step.answer), style="green")
        self._console.print(Panel(text, subtitle=cost, subtitle_align="right", padding=(0, 1)))

    def show_traced(self, found: TracedFinding, totals: Totals) -> None:
        body = Text.assemble(
            (f"Found: payment {found.payment}, {self._program.name}:{found.line}", "bold green"),
            (f"   {found.code}\n", "bold"),
            *(f"  · {fact}\n" for fact in found.facts),
            (
                f"{totals['requests']} requests, {totals['bytes']:,} bytes of answers, "
                f"{totals['ms']:g} ms",
                "dim",
            ),
        )
        self._console.print(Panel(body, border_style="green", padding=(0, 1)))

    # -- the end ----------------------------------------------------------------------------

    def show_finding(self, found: Finding, before: Totals, after: Totals) -> None:
        costs = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
        for way, totals in (("step by step", before), ("one call", after)):
            requests = totals["requests"]
            costs.add_row(
                way,
                f"{requests} request{'s' * (requests != 1)}",
                f"{totals['bytes']:,} bytes of answers",
                f"{totals['ms']:g} ms",
            )
        body = Text.assemble(
            (f"Found: {found.file}:{found.line}", "bold green"),
            (f"   {found.code}\n", "bold"),
            f"{found.explanation}\n",
            *(f"  · {fact}\n" for fact in found.evidence),
        )
        self._console.print(Panel(Group(body, costs), border_style="green", padding=(0, 1)))


def _format_command(step: Step) -> str:
    """A request to a tool as one would type it."""
    body: dict[str, Any] = dict(step.body)
    program = shlex.join([body.pop("target"), *body.pop("args")])
    tool = step.path.partition("?")[0].rpartition("_")[2]
    variable = f" {body.pop('variable')}" if "variable" in body else ""
    options = "".join(f" --{name} {shlex.quote(str(value))}" for name, value in body.items())
    return f"holdfast {tool}{variable}{options} -- {program}"
