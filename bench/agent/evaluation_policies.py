"""How an agent looks for a bug with Holdfast: by stepping, with tables, with traces, with why."""

from __future__ import annotations

from bench.agent.investigation import Investigation, Policy

MOVES = frozenset({"debug_run", "debug_step", "debug_trace", "debug_why"})
_STEPS = 20
"""Steps in one call."""
_MAX_COLUMNS = 8


async def step(agent: Investigation) -> None:
    """From the first line of the symptom's function, into everything, many steps a call."""
    path = agent.case.path.name
    place = f"{path}:{agent.reading.symptom.first_line}"
    report = await agent.ask("debug_run", target=path, breakpoints=[place])
    while report.get("status") == "paused":
        report = await agent.ask("debug_step", kind="into", count=_STEPS)


async def run(agent: Investigation) -> None:
    """A table of each function's variables at each of its lines, one function a call."""
    path = agent.case.path.name
    for function in agent.reading.order_functions():
        condition = agent.reading.find_condition(function)
        clause = "" if condition is None else f" if {condition}"
        places = [f"{path}:{line}{clause}" for line in function.lines]
        names = function.list_names()[:_MAX_COLUMNS]
        if names:
            await agent.ask("debug_run", target=path, breakpoints=places, collect=names)


async def trace(agent: Investigation) -> None:
    """The life of one call of each function, from the symptom back."""
    path = agent.case.path.name
    for function in agent.reading.order_functions():
        where = agent.reading.find_condition(function)
        chosen = {} if where is None else {"where": where}
        await agent.ask("debug_trace", target=path, function=function.name, **chosen)


async def why(agent: Investigation) -> None:
    """Where the wrong value comes from."""
    case = agent.case
    at = f"{case.path.name}:{case.symptom_line}"
    hit = {} if case.program.hit == 1 else {"hit": case.program.hit}
    await agent.ask("debug_why", variable=case.program.variable, at=at, **hit)


async def why_then_trace(agent: Investigation) -> None:
    """What an agent would do: ask why, and where that does not show it, look at the functions."""
    await why(agent)
    await trace(agent)


POLICIES: dict[str, Policy] = {
    "stepping": step,
    "debug_run": run,
    "debug_trace": trace,
    "debug_why": why,
    "why, then trace": why_then_trace,
}
CHOSEN = "why, then trace"
"""The one that is compared with the other servers."""
