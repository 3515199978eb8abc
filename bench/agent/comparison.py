"""Plays the scenario with every server in turn, and measures stops that cost others much."""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from bench.agent import peers, scenario
from bench.agent.mcp_driver import Conversation, ServerCommand, converse
from bench.agent.scenario import Outcome, Policy
from bench.measurements import Figure, Ratio, Row, find_marked_line

OURS, TOGETHER = "Holdfast", "Holdfast, steps together"
DAP_MCP, MCP_DEBUGGER = "dap-mcp", "mcp-debugger"
_MAX_WALL = 0.1
_MAX_DEPTH = 2.0
_DEPTHS = (2, 61)
_DEEP_STEPS = 10


@dataclass(frozen=True)
class Contender:
    """A server, and how an agent plays the scenario with it."""

    name: str
    command: ServerCommand
    play: Policy
    step_tools: tuple[str, ...]
    evaluate_tool: str


def measure(rounds: int, url: str | None = None) -> tuple[list[Row], list[Ratio]]:
    """The scenario beside the peers, and our own stops deep in a stack beside shallow ones.

    With the address of a running server, only ours is measured, and on that one.
    """
    has_peers = url is None
    with tempfile.TemporaryDirectory(prefix="holdfast-bench-") as folder:
        ours = _our_command(Path(folder), url)
        contenders = _list_ours(ours)
        if has_peers:
            contenders += _list_peers(Path(folder))
        outcomes: dict[str, list[Outcome]] = {contender.name: [] for contender in contenders}
        for _ in range(rounds):
            for contender in contenders:
                outcomes[contender.name].append(asyncio.run(_play(contender)))
        depth = asyncio.run(_measure_depth(ours))
    ratios = [_compare_walls(outcomes), *depth] if has_peers else depth
    return _build_rows(contenders, outcomes), ratios


def _compare_walls(outcomes: dict[str, list[Outcome]]) -> Ratio:
    ours, base = (
        statistics.median(outcome.wall_ms for outcome in outcomes[name]) for name in (OURS, DAP_MCP)
    )
    return Ratio("the whole scenario", "ms", ours, DAP_MCP, base, _MAX_WALL)


def _list_ours(ours: ServerCommand) -> list[Contender]:
    step, evaluate = ("debug_step",), "debug_evaluate"
    return [
        Contender(OURS, ours, scenario.play_holdfast, step, evaluate),
        Contender(TOGETHER, ours, scenario.play_holdfast_together, step, evaluate),
    ]


def _list_peers(folder: Path) -> list[Contender]:
    command = peers.dap_mcp_command(scenario.PROGRAM, folder)
    contenders = [Contender(DAP_MCP, command, scenario.play_dap_mcp, ("next",), "evaluate")]
    other = peers.mcp_debugger_command()
    if other is not None:
        tools = ("step_over", "get_local_variables")
        contenders.append(
            Contender(MCP_DEBUGGER, other, scenario.play_mcp_debugger, tools, "evaluate_expression")
        )
    return contenders


def _our_command(folder: Path, url: str | None) -> ServerCommand:
    environment = {**os.environ, "HOLDFAST_HOME": str(folder / "data"), "VIRTUAL_ENV": sys.prefix}
    command = (sys.executable, ("-m", "holdfast", "mcp", *(["--url", url] if url else [])))
    return ServerCommand(*command, cwd=scenario.PROGRAMS, environment=environment)


async def _play(contender: Contender) -> Outcome:
    async with converse(contender.command) as agent:
        start = time.perf_counter()
        to_locals = await contender.play(agent, scenario.PROGRAM, scenario.find_line())
        wall_ms = (time.perf_counter() - start) * 1000
        return Outcome(agent.calls, to_locals, agent.listed_bytes, wall_ms)


def _build_rows(contenders: list[Contender], outcomes: dict[str, list[Outcome]]) -> list[Row]:
    measures: list[tuple[str, str, Callable[[Contender, Outcome], float]]] = [
        ("calls", "", lambda _, o: len(o.calls)),
        ("calls to the first locals", "", lambda _, o: o.calls_to_locals),
        ("bytes of all answers", "", lambda _, o: o.bytes),
        ("bytes of tool list and instructions", "", lambda _, o: o.listed_bytes),
        ("nothing to locals", "ms", lambda _, o: o.ms_to_locals),
        ("step with locals", "ms", lambda c, o: o.median_ms(*c.step_tools)),
        ("evaluate", "ms", lambda c, o: o.median_ms(c.evaluate_tool)),
        ("the whole scenario", "ms", lambda _, o: o.wall_ms),
    ]
    rows = []
    for name, unit, read in measures:
        figures = {
            contender.name: _summarize([read(contender, o) for o in outcomes[contender.name]])
            for contender in contenders
        }
        base = figures[OURS].median
        ratios = {one: figure.median / base for one, figure in figures.items()}
        rows.append(Row(name, unit, figures, ratios))
    return rows


def _summarize(values: list[float]) -> Figure:
    return Figure(statistics.median(values), max(values), len(values))


async def _measure_depth(command: ServerCommand) -> list[Ratio]:
    """Steps in a shallow stack and in a deep one."""
    program = scenario.PROGRAMS / "deep_stack.py"
    line = find_marked_line(program, "count")
    shallow, deep = [await _step_at(command, program, line, depth) for depth in _DEPTHS]
    names = [f"a step {depth} frames deep" for depth in _DEPTHS]
    return [
        Ratio(names[1], "ms", deep[0], names[0], shallow[0], _MAX_DEPTH),
        Ratio(names[1], "bytes", deep[1], names[0], shallow[1], _MAX_DEPTH),
    ]


async def _step_at(
    command: ServerCommand, program: Path, line: int, depth: int
) -> tuple[float, float]:
    """The median time of a step there, and the bytes of the first stop."""
    async with converse(command) as agent:
        await _start(agent, program, line, args=[str(depth)])
        for _ in range(_DEEP_STEPS):
            await agent.call("debug_step")
        first, *steps = agent.calls
        return statistics.median(call.ms for call in steps), first.bytes


async def _start(agent: Conversation, program: Path, line: int, args: list[str]) -> None:
    place = f"{program}:{line}"
    await agent.call("debug_run", target=str(program), args=args, breakpoints=[place])
