"""The scenario: run to a breakpoint, locals, five steps, evaluate, continue with locals, end.

Each server gets there in its own way, with as few calls as its tools allow.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path

from bench.agent.mcp_driver import Call, Conversation
from bench.measurements import find_marked_line

PROGRAMS = Path(__file__).parent / "programs"
PROGRAM = PROGRAMS / "checkout.py"
STEPS = 5
EXPRESSION = "total + reduced"
Policy = Callable[[Conversation, Path, int], Awaitable[int]]
"""Plays the scenario; returns how many calls it took to see the first locals."""


@dataclass(frozen=True)
class Outcome:
    """What one conversation cost."""

    calls: list[Call]
    calls_to_locals: int
    listed_bytes: int
    wall_ms: float

    @property
    def bytes(self) -> int:
        return sum(call.bytes for call in self.calls)

    @property
    def ms_to_locals(self) -> float:
        return sum(call.ms for call in self.calls[: self.calls_to_locals])

    def median_ms(self, *tools: str) -> float:
        """The median over the steps, each of which may take several calls."""
        parts = [sorted(call.ms for call in self.calls if call.tool == tool) for tool in tools]
        return sum(times[len(times) // 2] for times in parts if times)


def find_line() -> int:
    """The line of the breakpoint, inside the loop: it is hit again after `continue`."""
    return find_marked_line(PROGRAM, "each")


async def play_holdfast(agent: Conversation, program: Path, line: int) -> int:
    """One step in a call."""
    await agent.call("debug_run", target=program.name, breakpoints=[f"{program.name}:{line}"])
    for _ in range(STEPS):
        await agent.call("debug_step")
    await agent.call("debug_evaluate", expression=EXPRESSION)
    await agent.call("debug_continue")
    await agent.call("debug_stop")
    return 1


async def play_holdfast_together(agent: Conversation, program: Path, line: int) -> int:
    """All steps in one call."""
    await agent.call("debug_run", target=program.name, breakpoints=[f"{program.name}:{line}"])
    await agent.call("debug_step", count=STEPS)
    await agent.call("debug_evaluate", expression=EXPRESSION)
    await agent.call("debug_continue")
    await agent.call("debug_stop")
    return 1


async def play_dap_mcp(agent: Conversation, program: Path, line: int) -> int:
    """Its answers have the whole view: source, variables, frames, threads."""
    await agent.call("set_breakpoint", path=str(program), line=line)
    await agent.call("launch")
    for _ in range(STEPS):
        await agent.call("next")
    await agent.call("evaluate", expression=EXPRESSION)
    await agent.call("continue_execution")
    await agent.call("terminate")
    return 2


async def play_mcp_debugger(agent: Conversation, program: Path, line: int) -> int:
    """Locals are a request of their own."""
    from bench.agent.peers import install_dap_mcp

    python = str(install_dap_mcp())
    created = await agent.call("create_debug_session", language="python", executablePath=python)
    session = {"sessionId": created["sessionId"]}
    await agent.call("set_breakpoint", **session, file=str(program), line=line)
    await agent.call("start_debugging", **session, scriptPath=str(program))
    await agent.call("get_local_variables", **session)
    for _ in range(STEPS):
        await agent.call("step_over", **session)
        await agent.call("get_local_variables", **session)
    await agent.call("evaluate_expression", **session, expression=EXPRESSION)
    await agent.call("continue_execution", **session)
    await agent.call("get_local_variables", **session)
    await agent.call("close_debug_session", **session)
    return 4
